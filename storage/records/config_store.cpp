#include "storage/records/config_store.hpp"

#include "runtime/model/codec/codec.hpp"
#include "storage/records/typed_store_impl.hpp"

namespace troupe {

std::string config_kept::key(const sandbox_config& c) {
  return keys::spell(c.organization, {c.id.str()});
}

std::string config_kept::encode(const sandbox_config& c) {
  return records::encode(to_json(c));
}

result<sandbox_config> config_kept::decode(std::string_view bytes) {
  auto parts = records::decode(bytes, name);
  if (!parts)
    return parts.error();
  return parse_sandbox_config(parts->body);
}

template class typed_store<config_kept>;

} // namespace troupe
