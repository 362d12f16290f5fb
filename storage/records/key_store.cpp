#include "storage/records/key_store.hpp"

#include "runtime/json/reader.hpp"
#include "runtime/model/codec/codec.hpp"
#include "storage/records/typed_store_impl.hpp"

namespace troupe {

std::string key_kept::key(const api_key& k) {
  return keys::spell(k.organization, {k.id.str()});
}

std::string key_kept::encode(const api_key& k) {
  json::object o;
  o["id"] = k.id.str();
  o["organization_id"] = k.organization.str();
  o["name"] = k.name;
  o["hash"] = k.hash;
  o["scopes"] = k.scopes;
  o["created_at"] = to_text(k.created_at);
  if (k.expires_at)
    o["expires_at"] = to_text(*k.expires_at);
  return records::encode(o);
}

result<api_key> key_kept::decode(std::string_view bytes) {
  auto parts = records::decode(bytes, name);
  if (!parts)
    return parts.error();
  json::reader in{parts->body};
  api_key k;
  k.id = key_id{in.required_text("id")};
  k.organization = organization_id{in.required_text("organization_id")};
  k.name = in.required_text("name");
  k.hash = in.required_text("hash");
  k.scopes
    = static_cast<std::uint8_t>(in.integer("scopes", 0, 255).value_or(0));
  auto created = parse_timestamp(in.required_text("created_at"));
  auto expires = in.text("expires_at");
  if (auto bad = in.finish_lenient())
    return *bad;
  if (!created)
    return created.error();
  k.created_at = *created;
  if (expires) {
    // A key whose end does not read must not live for ever.
    auto at = parse_timestamp(*expires);
    if (!at)
      return at.error();
    k.expires_at = *at;
  }
  return k;
}

template class typed_store<key_kept>;

} // namespace troupe
