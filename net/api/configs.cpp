#include "net/api/routes.hpp"
#include "net/api/shared/json_cache.hpp"
#include "net/api/shared/list_page.hpp"
#include "net/api/shared/preconditions.hpp"
#include "net/api/shared/request_body.hpp"
#include "runtime/model/codec/codec.hpp"
#include "runtime/model/codec/fingerprint_forms.hpp"

namespace troupe::net {

namespace {

constexpr std::string_view list_name = "sandbox-configs";

std::string text_of(const sandbox_config& c) {
  auto o = to_json(c);
  o["fingerprint"] = short_fingerprint(hex_fingerprint(c));
  return json::to_text(o);
}

/// Complaints about the payload, below `/config` where it stands.
error below_config(error e) {
  for (auto& f : e.fields)
    f.pointer = "/config" + f.pointer;
  return e;
}

std::shared_ptr<const sandbox_config> config_in_path(const caller_catalog& mine,
                                                     std::string_view text) {
  auto id = config_id::parse(text);
  if (!id)
    return nullptr;
  auto i = mine->configs.find(*id);
  return i == mine->configs.end() ? nullptr : i->second;
}

void answer_change(exchange& ex, const result<change_reply>& done,
                   const precondition& given = {}) {
  if (!done)
    fail_change(ex, done.error(), given);
  else
    respond_resource(ex, text_of(*done->config), done->created,
                     done->config->revision,
                     "/v1/sandbox-configs/" + done->config->id.str());
}

std::optional<backend_kind> read_type(json::reader& in) {
  auto text = in.one_of("type", {"local", "e2b", "modal", "daytona", "aio"});
  if (!text) {
    if (!in.has("type"))
      in.complain("type", "is missing",
                  "one of local, e2b, modal, daytona, aio");
    return std::nullopt;
  }
  auto parsed = parse_backend(*text);
  return parsed ? std::optional{*parsed} : std::nullopt;
}

void create(engine& core, const config_defaults& defaults,
            const exchange_ptr& ex) {
  auto given = read_if_match(*ex);
  if (given.failed)
    return;
  auto body = body_of(*ex);
  if (!body)
    return;
  json::reader in{*body};
  auto type = read_type(in);
  auto* payload = in.member_object("config");
  if (auto bad = in.finish()) {
    ex->fail(*bad);
    return;
  }
  static const json::object nothing;
  auto config = normalize_config(*type, payload ? *payload : nothing, defaults,
                                 unknown_members::refuse);
  if (!config) {
    ex->fail(below_config(config.error()));
    return;
  }
  put_config change{*type, std::move(*config), given.revision};
  core.change(ex->who(), std::move(change),
              [ex, given](result<change_reply> done) {
                answer_change(*ex, done, given);
              });
}

void create_default(engine& core, const exchange_ptr& ex) {
  auto body = body_of(*ex);
  if (!body)
    return;
  json::reader in{*body};
  auto type = read_type(in);
  if (auto bad = in.finish()) {
    ex->fail(*bad);
    return;
  }
  core.change(ex->who(), default_config{*type},
              [ex](result<change_reply> done) { answer_change(*ex, done); });
}

void list(engine& core, const exchange_ptr& ex) {
  query_reader query{ex->in().query};
  auto page = read_page(query, ex->who().organization, list_name);
  auto type = query.text("type");
  auto wanted = type ? parse_backend(*type) : result<backend_kind>{};
  if (type && !wanted)
    query.complain("type", "is not a backend",
                   "one of local, e2b, modal, daytona, aio");
  if (auto bad = query.finish()) {
    ex->fail(*bad);
    return;
  }
  caller_catalog mine{core, ex->who().organization};
  answer_page(
    *ex, page, list_name, mine->configs.upper_bound(config_id{page.after}),
    mine->configs.end(), [](const auto& item) { return item.first.str(); },
    [](const auto& item) { return text_of(*item.second); },
    [&](const auto& item) { return !type || item.second->type == *wanted; });
}

void find(engine& core, const exchange_ptr& ex) {
  caller_catalog mine{core, ex->who().organization};
  auto found = config_in_path(mine, ex->param(0));
  if (!found) {
    respond_not_found(*ex, "sandbox config", "/v1/sandbox-configs");
    return;
  }
  if (is_unchanged(ex->in(), found->revision)) {
    response r;
    r.status = 304;
    r.fields.emplace_back("etag", make_etag(found->revision));
    ex->answer(std::move(r));
    return;
  }
  thread_local json_cache<sandbox_config> texts;
  respond_resource(*ex, texts.of(found, text_of), false, found->revision, {});
}

void update(engine& core, const config_defaults& defaults,
            const exchange_ptr& ex) {
  auto given = read_if_match(*ex);
  if (given.failed)
    return;
  auto body = body_of(*ex);
  if (!body)
    return;
  caller_catalog mine{core, ex->who().organization};
  auto found = config_in_path(mine, ex->param(0));
  if (!found) {
    respond_not_found(*ex, "sandbox config", "/v1/sandbox-configs");
    return;
  }
  json::reader in{*body};
  auto* payload = in.member_object("config");
  if (!payload && !in.has("config"))
    in.complain("config", "is missing", "send the members to change");
  if (auto bad = in.finish()) {
    ex->fail(*bad);
    return;
  }
  // Here a change is a change: members that are not given stay, null resets.
  auto merged = found->config;
  for (const auto& [name, value] : *payload)
    if (value.is_null())
      merged.erase(name);
    else
      merged[name] = value;
  auto config
    = normalize_config(found->type, merged, defaults, unknown_members::refuse);
  if (!config) {
    ex->fail(below_config(config.error()));
    return;
  }
  update_config change;
  change.id = found->id;
  change.config = std::move(*config);
  change.if_revision = given.revision.value_or(found->revision);
  core.change(ex->who(), std::move(change),
              [ex, given](result<change_reply> done) {
                answer_change(*ex, done, given);
              });
}

void remove(engine& core, const exchange_ptr& ex) {
  auto given = read_if_match(*ex);
  if (given.failed)
    return;
  auto id = config_id::parse(ex->param(0));
  if (!id) {
    respond_not_found(*ex, "sandbox config", "/v1/sandbox-configs");
    return;
  }
  core.change(ex->who(), delete_config{*id, given.revision},
              [ex, given](result<change_reply> done) {
                if (done)
                  respond_no_content(*ex);
                else
                  fail_change(*ex, done.error(), given);
              });
}

} // namespace

void add_configs(router& routes, engine& core, const api_options& options,
                 const memory_ptr& memory) {
  auto write = needing(scope::config);
  auto read = needing(scope::config, body_rule::none);
  auto defaults = options.defaults;
  routes.add(method::post, "/v1/sandbox-configs",
             memory->remembering([&core, defaults](exchange_ptr ex) {
               create(core, defaults, ex);
             }),
             write);
  routes.add(
    method::post, "/v1/sandbox-configs/default",
    memory->remembering([&core](exchange_ptr ex) { create_default(core, ex); }),
    write);
  routes.add(
    method::get, "/v1/sandbox-configs",
    [&core](exchange_ptr ex) { list(core, ex); }, listing(scope::config));
  routes.add(
    method::get, "/v1/sandbox-configs/{config}",
    [&core](exchange_ptr ex) { find(core, ex); }, read);
  routes.add(
    method::patch, "/v1/sandbox-configs/{config}",
    [&core, defaults](exchange_ptr ex) { update(core, defaults, ex); }, write);
  routes.add(
    method::del, "/v1/sandbox-configs/{config}",
    [&core](exchange_ptr ex) { remove(core, ex); }, read);
}

} // namespace troupe::net
