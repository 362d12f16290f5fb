#include "storage/records/variable_store.hpp"

#include "runtime/model/codec/codec.hpp"
#include "storage/records/typed_store_impl.hpp"

namespace troupe {

std::string variable_kept::key(const sealed_variable& v) {
  return keys::spell(v.about.organization,
                     {v.about.config.str(), v.about.id.str()});
}

std::string variable_kept::encode(const sealed_variable& v) {
  return records::encode(to_json(v.about), v.sealed);
}

result<sealed_variable> variable_kept::decode(std::string_view bytes) {
  auto parts = records::decode(bytes, name);
  if (!parts)
    return parts.error();
  auto about = parse_variable(parts->body);
  if (!about)
    return about.error();
  return sealed_variable{std::move(*about), std::string{parts->extra}};
}

template class typed_store<variable_kept>;

} // namespace troupe
