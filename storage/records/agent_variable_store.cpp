#include "storage/records/agent_variable_store.hpp"

#include "runtime/model/codec/codec.hpp"
#include "storage/records/typed_store_impl.hpp"

namespace troupe {

std::string agent_variable_kept::key(const sealed_agent_variable& v) {
  return keys::spell(v.about.organization, {v.about.agent_id, v.about.key});
}

std::string agent_variable_kept::encode(const sealed_agent_variable& v) {
  return records::encode(to_json(v.about), v.sealed);
}

result<sealed_agent_variable>
agent_variable_kept::decode(std::string_view bytes) {
  auto parts = records::decode(bytes, name);
  if (!parts)
    return parts.error();
  auto about = parse_agent_variable(parts->body);
  if (!about)
    return about.error();
  return sealed_agent_variable{std::move(*about), std::string{parts->extra}};
}

template class typed_store<agent_variable_kept>;

} // namespace troupe
