// Variables of sandbox configs and of agents. Values go in and never out.
#include "net/api/routes.hpp"
#include "net/api/shared/list_page.hpp"
#include "net/api/shared/preconditions.hpp"
#include "net/api/shared/request_body.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/bounds.hpp"
#include "runtime/model/codec/codec.hpp"

namespace troupe::net {

namespace {

template <class Variable>
std::string text_of(const Variable& v) {
  return json::to_text(to_json(v));
}

/// Adds what is wrong with a name or a value to the reader's complaints.
void check(json::reader& in, const std::optional<std::string>& key,
           const std::optional<std::string>& value) {
  if (key)
    if (auto ok = check_variable_name(*key, in.pointer_to("key")); !ok)
      in.absorb(ok.error());
  if (value)
    if (auto ok = check_variable_value(*value, in.pointer_to("value")); !ok)
      in.absorb(ok.error());
}

std::optional<config_id> config_in_path(engine& core, exchange& ex) {
  caller_catalog mine{core, ex.who().organization};
  auto id = config_id::parse(ex.param(0));
  if (id && mine->configs.contains(*id))
    return *id;
  respond_not_found(ex, "sandbox config", "/v1/sandbox-configs");
  return std::nullopt;
}

void put(engine& core, const exchange_ptr& ex) {
  if (!has_no_etag(*ex))
    return;
  auto config = config_in_path(core, *ex);
  auto body = config ? body_of(*ex) : std::nullopt;
  if (!body)
    return;
  json::reader in{*body};
  put_variable change;
  change.config = *config;
  change.key = in.required_text("key", {.min = 1});
  auto value = in.required_text("value");
  change.description
    = in.text("description", {.max = bounds::variable_description_bytes})
        .value_or("");
  if (in.has("key") && in.has("value"))
    check(in, change.key, value);
  change.value = secret{std::move(value)};
  if (auto bad = in.finish()) {
    ex->fail(*bad);
    return;
  }
  core.change(ex->who(), std::move(change), [ex](result<change_reply> done) {
    if (!done)
      ex->fail(done.error());
    else
      respond_resource(*ex, text_of(done->variable->about), done->created, 0,
                       "/v1/variables/" + done->variable->about.id.str());
  });
}

/// One page of a map of variables by name.
template <class Variables>
void answer_variables(exchange& ex, const Variables& all,
                      const page_request& page, std::string_view list) {
  answer_page(
    ex, page, list, all.upper_bound(page.after), all.end(),
    [](const auto& item) { return item.first; },
    [](const auto& item) { return text_of(item.second->about); });
}

void list(engine& core, const exchange_ptr& ex) {
  auto config = config_in_path(core, *ex);
  if (!config)
    return;
  auto name = "variables " + config->str();
  auto page = page_of(*ex, name);
  if (!page)
    return;
  caller_catalog mine{core, ex->who().organization};
  auto found = mine->variables.find(*config);
  static const decltype(found->second) none;
  const auto& all = found == mine->variables.end() ? none : found->second;
  answer_variables(*ex, all, *page, name);
}

std::optional<variable_id> variable_in_path(exchange& ex) {
  if (auto id = variable_id::parse(ex.param(0)))
    return *id;
  respond_not_found(ex, "variable", "/v1/sandbox-configs/{config}/variables");
  return std::nullopt;
}

void update(engine& core, const exchange_ptr& ex) {
  if (!has_no_etag(*ex))
    return;
  auto id = variable_in_path(*ex);
  auto body = id ? body_of(*ex) : std::nullopt;
  if (!body)
    return;
  json::reader in{*body};
  update_variable change;
  change.id = *id;
  change.key = in.text("key", {.min = 1});
  auto value = in.text("value");
  change.description
    = in.text("description", {.max = bounds::variable_description_bytes});
  check(in, change.key, value);
  if (value)
    change.value = secret{std::move(*value)};
  if (auto bad = in.finish()) {
    ex->fail(*bad);
    return;
  }
  core.change(ex->who(), std::move(change), [ex](result<change_reply> done) {
    if (done)
      ex->answer_json(text_of(done->variable->about));
    else
      ex->fail(done.error());
  });
}

void answer_deleted(const exchange_ptr& ex, const result<change_reply>& done) {
  if (done)
    respond_no_content(*ex);
  else
    ex->fail(done.error());
}

void remove(engine& core, const exchange_ptr& ex) {
  if (!has_no_etag(*ex))
    return;
  if (auto id = variable_in_path(*ex))
    core.change(ex->who(), delete_variable{*id},
                [ex](result<change_reply> done) { answer_deleted(ex, done); });
}

// -- of agents ---------------------------------------------------------------

bool is_agent(exchange& ex) {
  if (ex.param(0).size() <= bounds::foreign_id_bytes)
    return true;
  ex.fail({ec::not_found,
           "no such agent: ids have at most "
             + std::to_string(bounds::foreign_id_bytes) + " bytes",
           {},
           {}});
  return false;
}

void list_agent(engine& core, const exchange_ptr& ex) {
  auto name = "agent variables " + std::string{ex->param(0)};
  auto page = page_of(*ex, name);
  if (!page)
    return;
  caller_catalog mine{core, ex->who().organization};
  auto found = mine->agent_variables.find(std::string{ex->param(0)});
  static const decltype(found->second) none;
  const auto& all = found == mine->agent_variables.end() ? none : found->second;
  answer_variables(*ex, all, *page, name);
}

/// PUT replaces the whole set, PATCH adds and overwrites.
void put_agent(engine& core, const exchange_ptr& ex, bool replace_all) {
  auto body = has_no_etag(*ex) && is_agent(*ex) ? body_of(*ex) : std::nullopt;
  if (!body)
    return;
  json::reader in{*body};
  put_agent_variables change;
  change.agent_id = std::string{ex->param(0)};
  change.replace_all = replace_all;
  auto* values = in.member_object("values");
  if (!values && !in.has("values"))
    in.complain("values", "is missing",
                "send {\"values\": {\"KEY\": \"...\"}}");
  if (values && values->size() > bounds::variables)
    in.complain("values", "has more than 1024 members");
  else if (values)
    for (const auto& [key, value] : *values) {
      auto pointer = json::child(in.pointer_to("values"), key);
      if (auto ok = check_variable_name(key, pointer); !ok)
        in.absorb(ok.error());
      if (!value.is_string())
        in.absorb(bad_field(pointer, "must be a string"));
      else if (auto ok = check_variable_value(value.get_string(), pointer); !ok)
        in.absorb(ok.error());
      else
        change.values.emplace(std::string{key},
                              secret{std::string{value.get_string()}});
    }
  if (auto bad = in.finish()) {
    ex->fail(*bad);
    return;
  }
  core.change(ex->who(), std::move(change), [ex](result<change_reply> done) {
    if (!done) {
      ex->fail(done.error());
      return;
    }
    json::object_writer out;
    out.raw("items", json::array_of(done->agent_variables, [](const auto& v) {
              return text_of(v->about);
            }));
    ex->answer_json(out.finish());
  });
}

void remove_agent(engine& core, const exchange_ptr& ex) {
  if (!has_no_etag(*ex))
    return;
  delete_agent_variable change{std::string{ex->param(0)},
                               std::string{ex->param(1)}};
  core.change(ex->who(), std::move(change),
              [ex](result<change_reply> done) { answer_deleted(ex, done); });
}

} // namespace

void add_variables(router& routes, engine& core, const memory_ptr& memory) {
  auto write = needing(scope::config);
  auto read = needing(scope::config, body_rule::none);
  auto with
    = [&core](auto f) { return [&core, f](exchange_ptr ex) { f(core, ex); }; };
  const std::string of_config = "/v1/sandbox-configs/{config}/variables";
  routes.add(method::post, of_config, memory->remembering(with(put)), write);
  routes.add(method::get, of_config, with(list), listing(scope::config));
  routes.add(method::patch, "/v1/variables/{variable}", with(update), write);
  routes.add(method::del, "/v1/variables/{variable}", with(remove), read);
  const std::string of_agent = "/v1/agents/{agent}/variables";
  routes.add(method::get, of_agent, with(list_agent), listing(scope::config));
  routes.add(
    method::put, of_agent,
    [&core](exchange_ptr ex) { put_agent(core, ex, true); }, write);
  routes.add(
    method::patch, of_agent,
    [&core](exchange_ptr ex) { put_agent(core, ex, false); }, write);
  routes.add(method::del, of_agent + "/{key}", with(remove_agent), read);
}

} // namespace troupe::net
