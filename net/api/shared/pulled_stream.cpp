#include "net/api/shared/pulled_stream.hpp"

#include "net/api/shared/run_stream.hpp"
#include "runtime/json/writer.hpp"

#include <utility>

namespace troupe::net {

void pulled_stream::open(exchange& ex) {
  open_stream(ex, format_);
}

void pulled_stream::write(std::string_view event, std::string data,
                          std::uint64_t id) {
  put(frame_entry(format_, event, std::move(data), id));
}

void pulled_stream::end(std::string_view event, std::string data) {
  write(event, std::move(data));
  close();
}

void pulled_stream::give_up(const error& why) {
  json::object_writer entry;
  entry.text("type", "error").raw("error", to_json_text(why));
  end("error", entry.finish());
}

} // namespace troupe::net
