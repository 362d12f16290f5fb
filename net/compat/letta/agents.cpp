// Agents live elsewhere. What is kept of them are their variables; their
// tools are the organization's.
#include "net/api/shared/preconditions.hpp"
#include "net/api/shared/request_body.hpp"
#include "net/compat/letta/letta_json.hpp"
#include "net/compat/letta/routes.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/bounds.hpp"
#include "runtime/model/ids.hpp"

namespace troupe::net::letta {

namespace {

std::string agent_text(const engine& core, const letta_options& options,
                       const exchange& ex, const std::string& agent) {
  caller_catalog mine{core, ex.who().organization};
  std::string secrets{"["};
  auto found = mine->agent_variables.find(agent);
  if (found != mine->agent_variables.end())
    for (const auto& [key, v] : found->second)
      secrets.append(secrets.size() == 1 ? "" : ",")
        .append(text_of(*v, options));
  secrets += ']';
  json::object_writer out;
  out.text("id", agent)
    .raw("secrets", secrets)
    .raw("tool_exec_environment_variables", secrets);
  return out.finish();
}

void find(engine& core, const letta_options& options, const exchange_ptr& ex) {
  ex->answer_json(agent_text(core, options, *ex, std::string{ex->param(0)}));
}

/// `secrets` replaces the whole set; absent, it leaves it alone. Everything
/// else about an agent is not ours and passes by.
void keep(engine& core, const letta_options& options, const exchange_ptr& ex,
          const std::string& agent) {
  auto body = letta::body_of(*ex);
  if (!body)
    return;
  json::reader in{*body};
  auto* old_name = in.member_object("tool_exec_environment_variables");
  auto* values = in.member_object("secrets");
  if (!values)
    values = old_name;
  put_agent_variables change;
  change.agent_id = agent;
  if (change.agent_id.size() > bounds::foreign_id_bytes)
    in.complain("id", "is longer than 256 bytes");
  if (values)
    for (const auto& [key, value] : *values) {
      auto pointer = json::child(in.pointer_to("secrets"), key);
      if (auto ok = check_variable_name(key, pointer); !ok)
        in.absorb(ok.error());
      else if (!value.is_string())
        in.absorb(bad_field(pointer, "must be a string"));
      else
        change.values.emplace(std::string{key},
                              secret{std::string{value.get_string()}});
    }
  if (auto bad = in.finish_lenient()) {
    fail_validation(*ex, *bad);
    return;
  }
  if (!values) {
    ex->answer_json(agent_text(core, options, *ex, agent));
    return;
  }
  core.change(ex->who(), std::move(change),
              [&core, &options, ex, agent](result<change_reply> done) {
                if (done)
                  ex->answer_json(agent_text(core, options, *ex, agent));
                else
                  fail_engine(*ex, done.error());
              });
}

/// An agent is an id here, under which its secrets are kept.
void create(engine& core, const letta_options& options,
            const exchange_ptr& ex) {
  keep(core, options, ex, "agent-" + make_uuid());
}

void update(engine& core, const letta_options& options,
            const exchange_ptr& ex) {
  keep(core, options, ex, std::string{ex->param(0)});
}

void list_tools(engine& core, const letta_options&, const exchange_ptr& ex) {
  query_reader query{ex->in().query};
  auto limit = query.integer("limit", 1, 1'000).value_or(10);
  auto after = query.text("after");
  if (auto bad = query.finish_lenient()) {
    fail_validation(*ex, *bad);
    return;
  }
  caller_catalog mine{core, ex->who().organization};
  std::vector<std::shared_ptr<const tool>> page;
  auto i
    = after ? mine->tools.upper_bound(tool_id{*after}) : mine->tools.begin();
  for (;
       i != mine->tools.end() && page.size() < static_cast<std::size_t>(limit);
       ++i)
    page.push_back(i->second);
  ex->answer_json(
    json::array_of(page, [](const auto& t) { return text_of(*t); }));
}

/// Attaching means nothing here, so it succeeds for every tool there is.
void attach(engine& core, const letta_options&, const exchange_ptr& ex) {
  caller_catalog mine{core, ex->who().organization};
  auto id = tool_id::parse(ex->param(1));
  if (id && mine->tools.contains(*id))
    ex->answer_json("null");
  else
    fail(*ex, 404, "NOT_FOUND: there is no tool " + std::string{ex->param(1)});
}

/// The clients spell the member in two ways; both are right.
void approve(engine& core, const letta_options&, const exchange_ptr& ex) {
  auto body = letta::body_of(*ex, true);
  if (!body)
    return;
  query_reader query{ex->in().query};
  json::reader in{*body};
  auto a = in.boolean("requires_approval");
  auto b = in.boolean("body_requires_approval");
  auto c = query.boolean("requires_approval");
  if (!a && !b && !c)
    in.complain("requires_approval", "is missing");
  if (auto bad = in.finish()) {
    fail_validation(*ex, *bad);
    return;
  }
  caller_catalog mine{core, ex->who().organization};
  if (mine->tools_by_name.find(ex->param(1)) == mine->tools_by_name.end())
    fail(*ex, 404,
         "NOT_FOUND: there is no tool '" + std::string{ex->param(1)}
           + "' for this agent");
  else
    ex->answer_json("null");
}

} // namespace

void add_agents(doors& to, engine& core) {
  const std::string one = "/agents/{agent}";
  to.add(method::post, "/agents", core, create, scope::config);
  to.add(method::get, one, core, find, scope::config);
  to.add(method::patch, one, core, update, scope::config);
  to.add(method::get, one + "/tools", core, list_tools, scope::run);
  to.add(method::patch, one + "/tools/attach/{tool}", core, attach,
         scope::config);
  to.add(method::patch, one + "/tools/detach/{tool}", core, attach,
         scope::config);
  to.add(method::patch, one + "/tools/approval/{name}", core, approve,
         scope::config);
}

} // namespace troupe::net::letta
