#include "net/api/routes.hpp"
#include "net/api/shared/list_page.hpp"
#include "net/api/shared/preconditions.hpp"
#include "net/api/shared/request_body.hpp"
#include "net/server/auth.hpp"
#include "runtime/engine/api_key.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/codec.hpp"

#include <map>

namespace troupe::net {

namespace {

constexpr std::string_view list_name = "keys";

std::string scope_names(std::uint8_t bits) {
  std::string out{"["};
  for (const auto& s : named_scopes)
    if (bits & static_cast<std::uint8_t>(s.bit))
      out.append(out.size() > 1 ? ",\"" : "\"").append(s.name).append("\"");
  return out += ']';
}

/// Everything but the hash; the key itself only when it has just been made.
std::string text_of(const api_key& k, const secret* text) {
  json::object_writer out;
  out.text("id", k.id.str())
    .text("organization_id", k.organization.str())
    .text("name", k.name)
    .raw("scopes", scope_names(k.scopes))
    .text("created_at", to_text(k.created_at))
    .text_or_null("expires_at", k.expires_at ? to_text(*k.expires_at) : "");
  if (text)
    out.text("key", text->reveal());
  return out.finish();
}

/// One that may do what its maker may not would be a way past it.
std::uint8_t read_scopes(json::reader& in, const caller& who) {
  auto* list = in.member_array("scopes");
  std::uint8_t bits = 0;
  if (list)
    for (const auto& item : *list) {
      std::uint8_t bit = 0;
      for (const auto& s : named_scopes)
        if (item.is_string() && item.get_string() == s.name)
          bit = static_cast<std::uint8_t>(s.bit);
      if (bit == 0)
        in.complain("scopes", "has an unknown scope",
                    "run, config, admin or operator");
      bits |= bit;
    }
  if ((bits & ~who.scopes) != 0)
    in.complain("scopes", "has a scope that the caller does not have",
                "only an operator can create a key for operators");
  if (bits == 0 && !(list && !list->empty()))
    in.complain("scopes", "is missing",
                "a list of run, config, admin and operator");
  return bits;
}

/// Whose key it will be. An organization begins with its first key, which the
/// operator makes.
std::optional<organization_id> read_owner(json::reader& in, const caller& who) {
  auto text = in.text("organization_id", {.max = 128});
  if (!text)
    return who.organization;
  auto id = organization_id::parse(*text);
  if (!id) {
    in.complain("organization_id", "is not an id", "org-<uuid4>");
    return std::nullopt;
  }
  if (*id != who.organization && !is_operator(who)) {
    in.complain("organization_id", "is another organization's",
                std::string{operators_only});
    return std::nullopt;
  }
  return std::move(*id);
}

void create(engine& core, const exchange_ptr& ex) {
  auto body = body_of(*ex);
  if (!body)
    return;
  json::reader in{*body};
  auto name = in.required_text("name", {.min = 1, .max = 128});
  auto bits = read_scopes(in, ex->who());
  auto days = in.integer("expires_in_days", 1, 3'650);
  auto owner = read_owner(in, ex->who());
  const auto format = in.one_of("format", {"troupe", "e2b"});
  if (auto bad = in.finish()) {
    ex->fail(*bad);
    return;
  }
  auto made
    = make_api_key(*owner, std::move(name), bits,
                   format == "e2b" ? key_format::e2b : key_format::troupe);
  if (days)
    made.record.expires_at
      = made.record.created_at + std::chrono::hours{24 * *days};
  auto text = std::make_shared<secret>(std::move(made.text));
  core.change(ex->who(), put_key{std::move(made.record)},
              [ex, text](result<change_reply> done) {
                if (!done)
                  ex->fail(done.error());
                else
                  respond_resource(*ex, text_of(*done->key, text.get()), true,
                                   0, "/v1/keys/" + done->key->id.str());
              });
}

void list(engine& core, const exchange_ptr& ex) {
  auto page = page_of(*ex, list_name);
  if (!page)
    return;
  caller_catalog mine{core, ex->who().organization};
  std::map<key_id, const api_key*> all;
  if (mine.all())
    for (const auto& [hash, key] : mine.all()->keys_by_hash)
      if (key->organization == ex->who().organization)
        all.emplace(key->id, key.get());
  answer_page(
    *ex, *page, list_name, all.upper_bound(key_id{page->after}), all.end(),
    [](const auto& item) { return item.first.str(); },
    [](const auto& item) { return text_of(*item.second, nullptr); });
}

void remove(engine& core, const exchange_ptr& ex) {
  auto id = key_id::parse(ex->param(0));
  if (!id) {
    respond_not_found(*ex, "key", "/v1/keys");
    return;
  }
  core.change(ex->who(), delete_key{*id}, [ex](result<change_reply> done) {
    if (done)
      respond_no_content(*ex);
    else
      ex->fail(done.error());
  });
}

} // namespace

void add_keys(router& routes, engine& core, const memory_ptr& memory) {
  routes.add(method::post, "/v1/keys",
             memory->remembering([&core](exchange_ptr ex) { create(core, ex); },
                                 answer_holds::a_secret),
             needing(scope::admin));
  routes.add(
    method::get, "/v1/keys", [&core](exchange_ptr ex) { list(core, ex); },
    listing(scope::admin));
  routes.add(
    method::del, "/v1/keys/{key}",
    [&core](exchange_ptr ex) { remove(core, ex); },
    needing(scope::admin, body_rule::none));
}

} // namespace troupe::net
