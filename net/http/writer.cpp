#include "net/http/writer.hpp"

#include "runtime/model/codec/codec.hpp"

namespace troupe::net {

object_writer& object_writer::time(std::string_view name, timestamp value) {
  return text(name, to_text(value));
}

} // namespace troupe::net
