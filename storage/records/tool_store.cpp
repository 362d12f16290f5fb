#include "storage/records/tool_store.hpp"

#include "runtime/model/codec/codec.hpp"
#include "storage/records/typed_store_impl.hpp"

namespace troupe {

std::string tool_kept::key(const tool& t) {
  return keys::spell(t.organization, {t.id.str()});
}

std::string tool_kept::encode(const tool& t) {
  return records::encode(to_json(t));
}

result<tool> tool_kept::decode(std::string_view bytes) {
  auto parts = records::decode(bytes, name);
  if (!parts)
    return parts.error();
  return parse_tool(parts->body);
}

template class typed_store<tool_kept>;

} // namespace troupe
