#include "storage/records/record_kinds.hpp"

#include "runtime/json/reader.hpp"
#include "runtime/model/codec/codec.hpp"
#include "storage/records/typed_store_impl.hpp"

namespace troupe {

namespace {

template <class Record>
result<Record> decode_as(std::string_view bytes, std::string_view name,
                         result<Record> (*parse)(const json::object&)) {
  auto parts = records::decode(bytes, name);
  if (!parts)
    return parts.error();
  return parse(parts->body);
}

/// The same of a record with a sealed value beside it.
template <class Sealed, class About>
result<Sealed> decode_sealed(std::string_view bytes, std::string_view name,
                             result<About> (*parse)(const json::object&)) {
  auto parts = records::decode(bytes, name);
  if (!parts)
    return parts.error();
  auto about = parse(parts->body);
  if (!about)
    return about.error();
  return Sealed{std::move(*about), std::string{parts->extra}};
}

result<api_key> parse_key(const json::object& body) {
  json::reader in{body};
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

} // namespace

std::string tool_traits::key(const tool& t) {
  return key_codec::encode(t.organization, {t.id.str()});
}
std::string tool_traits::encode(const tool& t) {
  return records::encode(to_json(t));
}
result<tool> tool_traits::decode(std::string_view bytes) {
  return decode_as(bytes, name, parse_tool);
}

std::string config_traits::key(const sandbox_config& c) {
  return key_codec::encode(c.organization, {c.id.str()});
}
std::string config_traits::encode(const sandbox_config& c) {
  return records::encode(to_json(c));
}
result<sandbox_config> config_traits::decode(std::string_view bytes) {
  return decode_as(bytes, name, parse_sandbox_config);
}

std::string variable_traits::key(const sealed_variable& v) {
  return key_codec::encode(v.about.organization,
                           {v.about.config.str(), v.about.id.str()});
}
std::string variable_traits::encode(const sealed_variable& v) {
  return records::encode(to_json(v.about), v.sealed);
}
result<sealed_variable> variable_traits::decode(std::string_view bytes) {
  return decode_sealed<sealed_variable>(bytes, name, parse_variable);
}

std::string agent_variable_traits::key(const sealed_agent_variable& v) {
  return key_codec::encode(v.about.organization,
                           {v.about.agent_id, v.about.key});
}
std::string agent_variable_traits::encode(const sealed_agent_variable& v) {
  return records::encode(to_json(v.about), v.sealed);
}
result<sealed_agent_variable>
agent_variable_traits::decode(std::string_view bytes) {
  return decode_sealed<sealed_agent_variable>(bytes, name,
                                              parse_agent_variable);
}

std::string key_traits::key(const api_key& k) {
  return key_codec::encode(k.organization, {k.id.str()});
}
std::string key_traits::encode(const api_key& k) {
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
result<api_key> key_traits::decode(std::string_view bytes) {
  return decode_as(bytes, name, parse_key);
}

template class typed_store<tool_traits>;
template class typed_store<config_traits>;
template class typed_store<variable_traits>;
template class typed_store<agent_variable_traits>;
template class typed_store<key_traits>;

} // namespace troupe
