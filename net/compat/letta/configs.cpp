#include "net/api/shared/preconditions.hpp"
#include "net/api/shared/request_body.hpp"
#include "net/compat/letta/letta_json.hpp"
#include "net/compat/letta/routes.hpp"
#include "runtime/engine/package_environments.hpp"
#include "runtime/json/writer.hpp"

#include <algorithm>

namespace troupe::net::letta {

namespace {

using config_ptr = std::shared_ptr<const sandbox_config>;

void answer(const exchange_ptr& ex, const result<change_reply>& done) {
  if (done)
    ex->answer_json(text_of(*done->config));
  else
    fail_engine(*ex, done.error());
}

/// {"config": {...}}, and a type beside it for those who know what they want.
std::optional<json::object> read_payload(exchange& ex) {
  auto body = letta::body_of(ex);
  if (!body)
    return std::nullopt;
  json::reader in{*body};
  auto* payload = in.member_object("config");
  if (!payload && !in.has("config"))
    in.complain("config", "is missing");
  auto type = in.one_of("type", {"local", "e2b", "modal", "daytona", "aio"});
  if (auto bad = in.finish()) {
    fail_validation(ex, *bad);
    return std::nullopt;
  }
  auto out = *payload;
  if (type)
    out["type"] = *type;
  return out;
}

void put(engine& core, const exchange_ptr& ex, backend_kind type,
         const json::object& payload, const letta_options& options) {
  auto config
    = normalize_config(type, payload, options.defaults, unknown_members::drop);
  if (!config) {
    fail_validation(*ex, config.error());
    return;
  }
  // The same again is no change.
  caller_catalog mine{core, ex->who().organization};
  if (auto known = mine->configs_by_type.find(type);
      known != mine->configs_by_type.end()) {
    auto old = mine->configs.find(known->second);
    if (old != mine->configs.end() && old->second->config == *config) {
      ex->answer_json(text_of(*old->second));
      return;
    }
  }
  core.change(ex->who(), put_config{type, std::move(*config)},
              [ex](result<change_reply> done) { answer(ex, done); });
}

void create(engine& core, const letta_options& options,
            const exchange_ptr& ex) {
  auto payload = read_payload(*ex);
  if (!payload)
    return;
  auto type = recognize_config(*payload);
  if (!type) {
    fail_validation(*ex, type.error());
    return;
  }
  put(core, ex, *type, *payload, options);
}

void create_local(engine& core, const letta_options& options,
                  const exchange_ptr& ex) {
  if (auto body = letta::body_of(*ex))
    put(core, ex, backend_kind::local, *body, options);
}

template <backend_kind Type>
void get_default(engine& core, const letta_options&, const exchange_ptr& ex) {
  core.change(ex->who(), default_config{Type},
              [ex](result<change_reply> done) { answer(ex, done); });
}

/// Answers when the environment of the local config has been built anew, as
/// Letta does. A config that names no package has none.
void recreate(engine& core, const letta_options& options,
              const exchange_ptr& ex) {
  auto rebuild = [all = options.packages, ex](result<change_reply> done) {
    if (!done)
      return fail_engine(*ex, done.error());
    auto text = text_of(*done->config);
    auto local = as_local(done->config->config);
    if (!local)
      return fail_engine(*ex, local.error());
    if (!all || local->pip_requirements.empty())
      return ex->answer_json(std::move(text));
    environment_request wish;
    wish.pip = local->pip_requirements;
    wish.afresh = true;
    environment_watch watch;
    watch.finished = [ex, text](const environment_record& r) {
      if (r.failure)
        fail_engine(*ex, *r.failure);
      else
        ex->answer_json(text);
    };
    all->build(ex->who().organization, std::move(wish), std::move(watch));
  };
  core.change(ex->who(), default_config{backend_kind::local},
              std::move(rebuild));
}

/// The config in the path; answers 422 for a malformed id, 404 for no such.
config_ptr config_in_path(engine& core, exchange& ex) {
  auto id = config_id::parse(ex.param(0));
  if (!id) {
    fail_validation(ex, id.error());
    return nullptr;
  }
  caller_catalog mine{core, ex.who().organization};
  auto i = mine->configs.find(*id);
  if (i != mine->configs.end())
    return i->second;
  fail(ex, 404, "NOT_FOUND: there is no sandbox config " + id->str());
  return nullptr;
}

void update(engine& core, const letta_options& options,
            const exchange_ptr& ex) {
  auto found = config_in_path(core, *ex);
  auto payload = found ? read_payload(*ex) : std::nullopt;
  if (!payload)
    return;
  // Untyped payloads are recognised by their members; one that is valid for
  // what is stored needs no guess.
  auto type = recognize_config(*payload);
  bool fits = found->type != backend_kind::local && !payload->contains("type")
    && type && *type != backend_kind::local
    && normalize_update(found->type, *payload, options.defaults,
                        unknown_members::refuse);
  if (fits)
    type = found->type;
  if (!type) {
    fail_validation(*ex, type.error());
    return;
  }
  if (*type != found->type) {
    fail(*ex, 400,
         "INVALID_ARGUMENT: the config is of type "
           + std::string{to_string(*type)} + ", the stored one of type "
           + std::string{to_string(found->type)});
    return;
  }
  auto config = normalize_update(*type, *payload, options.defaults,
                                 unknown_members::drop);
  if (!config) {
    fail_validation(*ex, config.error());
    return;
  }
  if (*config == found->config) {
    ex->answer_json(text_of(*found));
    return;
  }
  update_config change;
  change.id = found->id;
  change.config = std::move(*config);
  change.type = *type;
  core.change(ex->who(), std::move(change),
              [ex](result<change_reply> done) { answer(ex, done); });
}

void remove(engine& core, const letta_options&, const exchange_ptr& ex) {
  if (auto found = config_in_path(core, *ex))
    core.change(ex->who(), delete_config{found->id},
                [ex](result<change_reply> done) {
                  if (done)
                    respond_no_content(*ex);
                  else
                    fail_engine(*ex, done.error());
                });
}

void list(engine& core, const letta_options&, const exchange_ptr& ex) {
  query_reader query{ex->in().query};
  auto limit = query.integer("limit", 1, 10'000).value_or(1'000);
  auto after = query.text("after");
  auto text = query.text("sandbox_type");
  auto type = text ? parse_backend(*text) : result<backend_kind>{};
  if (text && !type)
    query.complain("sandbox_type", "must be 'e2b', 'modal' or 'local'");
  if (auto bad = query.finish_lenient()) {
    fail_validation(*ex, *bad);
    return;
  }
  caller_catalog mine{core, ex->who().organization};
  std::vector<config_ptr> all;
  for (const auto& [id, one] : mine->configs)
    if (!text || one->type == *type)
      all.push_back(one);
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tie(a->created_at, a->id) < std::tie(b->created_at, b->id);
  });
  auto begin = all.begin();
  if (after) {
    auto last = std::find_if(
      begin, all.end(), [&](const auto& c) { return c->id.str() == *after; });
    if (last == all.end()) {
      fail(*ex, 404, "NOT_FOUND: unknown cursor");
      return;
    }
    begin = last + 1;
  }
  all.erase(all.begin(), begin);
  if (all.size() > static_cast<std::size_t>(limit))
    all.resize(static_cast<std::size_t>(limit));
  ex->answer_json(
    json::array_of(all, [](const auto& c) { return text_of(*c); }));
}

} // namespace

void add_configs(doors& to, engine& core) {
  constexpr auto needed = scope::config;
  const std::string base = "/sandbox-config";
  to.add(method::post, base, core, create, needed);
  to.add(method::get, base, core, list, needed);
  to.add(method::post, base + "/e2b/default", core,
         get_default<backend_kind::e2b>, needed);
  to.add(method::post, base + "/local/default", core,
         get_default<backend_kind::local>, needed);
  to.add(method::post, base + "/local", core, create_local, needed);
  to.add(method::post, base + "/local/recreate-venv", core, recreate, needed);
  to.add(method::patch, base + "/{config}", core, update, needed);
  to.add(method::del, base + "/{config}", core, remove, needed);
}

} // namespace troupe::net::letta
