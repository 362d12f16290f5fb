#include "net/api/shared/preconditions.hpp"
#include "net/api/shared/request_body.hpp"
#include "net/compat/letta/letta_json.hpp"
#include "net/compat/letta/routes.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/bounds.hpp"

#include <algorithm>

namespace troupe::net::letta {

namespace {

std::optional<config_id> config_in_path(engine& core, exchange& ex) {
  auto id = config_id::parse(ex.param(0));
  if (!id) {
    fail_validation(ex, id.error());
    return std::nullopt;
  }
  caller_catalog mine{core, ex.who().organization};
  if (mine->configs.contains(*id))
    return *id;
  fail(ex, 404, "NOT_FOUND: there is no sandbox config " + id->str());
  return std::nullopt;
}

/// What the three bodies share.
update_variable read_members(json::reader& in) {
  update_variable out;
  out.key = in.text("key");
  auto value = in.text("value");
  out.description
    = in.text("description", {.max = bounds::variable_description_bytes});
  if (out.key)
    if (auto ok = check_variable_name(*out.key); !ok)
      in.absorb(ok.error());
  if (value)
    if (auto ok = check_variable_value(*value); !ok)
      in.absorb(ok.error());
  if (value)
    out.value = secret{std::move(*value)};
  return out;
}

/// `options` live as long as the routes.
handler<change_reply> answering(const exchange_ptr& ex,
                                const letta_options& options) {
  return [ex, &options](const result<change_reply>& done) {
    if (done)
      ex->answer_json(text_of(*done->variable, options));
    else
      fail_engine(*ex, done.error());
  };
}

void put(engine& core, const letta_options& options, const exchange_ptr& ex) {
  auto config = config_in_path(core, *ex);
  auto body = config ? letta::body_of(*ex) : std::nullopt;
  if (!body)
    return;
  json::reader in{*body};
  auto given = read_members(in);
  for (auto name : {"key", "value"})
    if (!in.has(name))
      in.complain(name, "is missing");
  if (auto bad = in.finish()) {
    fail_validation(*ex, *bad);
    return;
  }
  put_variable change;
  change.config = *config;
  change.key = std::move(*given.key);
  change.value = std::move(*given.value);
  change.description = given.description.value_or("");
  core.change(ex->who(), std::move(change), answering(ex, options));
}

void list(engine& core, const letta_options& options, const exchange_ptr& ex) {
  auto config = config_in_path(core, *ex);
  if (!config)
    return;
  query_reader query{ex->in().query};
  auto limit = query.integer("limit", 1, 10'000).value_or(1'000);
  auto after = query.text("after");
  if (auto bad = query.finish_lenient()) {
    fail_validation(*ex, *bad);
    return;
  }
  caller_catalog mine{core, ex->who().organization};
  std::vector<std::shared_ptr<const sealed_variable>> all;
  if (auto i = mine->variables.find(*config); i != mine->variables.end())
    for (const auto& [key, one] : i->second)
      all.push_back(one);
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tie(a->about.created_at, a->about.id)
      < std::tie(b->about.created_at, b->about.id);
  });
  if (after) {
    auto last = std::find_if(all.begin(), all.end(), [&](const auto& v) {
      return v->about.id.str() == *after;
    });
    if (last == all.end()) {
      fail(*ex, 404, "NOT_FOUND: unknown cursor");
      return;
    }
    all.erase(all.begin(), last + 1);
  }
  if (all.size() > static_cast<std::size_t>(limit))
    all.resize(static_cast<std::size_t>(limit));
  ex->answer_json(
    json::array_of(all, [&](const auto& v) { return text_of(*v, options); }));
}

std::optional<variable_id> variable_in_path(exchange& ex) {
  if (auto id = variable_id::parse(ex.param(0)))
    return *id;
  fail(ex, 404, "NOT_FOUND: no such package set variable");
  return std::nullopt;
}

void update(engine& core, const letta_options& options,
            const exchange_ptr& ex) {
  auto id = variable_in_path(*ex);
  auto body = id ? letta::body_of(*ex) : std::nullopt;
  if (!body)
    return;
  json::reader in{*body};
  auto change = read_members(in);
  change.id = *id;
  if (auto bad = in.finish()) {
    fail_validation(*ex, *bad);
    return;
  }
  core.change(ex->who(), std::move(change), answering(ex, options));
}

void remove(engine& core, const letta_options&, const exchange_ptr& ex) {
  if (auto id = variable_in_path(*ex))
    core.change(ex->who(), delete_variable{*id},
                [ex](result<change_reply> done) {
                  if (done)
                    respond_no_content(*ex);
                  else
                    fail_engine(*ex, done.error());
                });
}

} // namespace

void add_variables(doors& to, engine& core) {
  const std::string base = "/sandbox-config";
  const std::string of_config = base + "/{config}/environment-variable";
  const std::string one = base + "/environment-variable/{variable}";
  to.add(method::post, of_config, core, put, scope::config);
  to.add(method::get, of_config, core, list, scope::config);
  to.add(method::patch, one, core, update, scope::config);
  to.add(method::del, one, core, remove, scope::config);
}

} // namespace troupe::net::letta
