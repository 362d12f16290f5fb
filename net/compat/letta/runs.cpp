#include "net/api/shared/preconditions.hpp"
#include "net/api/tool_body.hpp"
#include "net/compat/letta/letta_json.hpp"
#include "net/compat/letta/routes.hpp"
#include "runtime/base/trace_context.hpp"
#include "runtime/json/big_integers.hpp"
#include "runtime/json/reader.hpp"
#include "runtime/model/bounds.hpp"
#include "runtime/model/codec/codec.hpp"

namespace troupe::net::letta {

namespace {

using result_ptr = std::shared_ptr<const run_result>;
using shaper = std::function<std::string(const run_result&)>;

/// As Python would call it.
std::string_view exception_of(ec code) {
  switch (code) {
  case ec::denied:
    return "PermissionError";
  case ec::timeout:
    return "TimeoutError";
  case ec::unavailable:
    return "ConnectionError";
  case ec::invalid_request:
  case ec::not_found:
  case ec::conflict:
    return "ValueError";
  case ec::no_space:
    return "OSError";
  case ec::exhausted:
  case ec::internal:
    break;
  }
  return "RuntimeError";
}

/// Packages that do not install, a policy that is in the way: once the request
/// itself was fine, a model reads that as what came of its call. As a failure
/// of ours Letta's clients would send it again, and again.
run_result refused(const std::string& function, const error& why) {
  auto text = detail_of(why);
  run_result r;
  r.failure.name = exception_of(why.code);
  r.failure.friendly = "Error executing function " + function + ": "
    + r.failure.name + ": " + text;
  r.failure.message = text;
  r.stderr_text = std::move(text);
  return r;
}

/// Nobody has taken the run on, or it names what is not there.
bool is_for_later(ec code) {
  return code == ec::exhausted || code == ec::not_found || code == ec::conflict;
}

/// An engine that takes nothing on says so; of one that is well, what it could
/// not have was the run's.
void answer_failure(engine& core, const exchange_ptr& ex, const error& why,
                    std::string text) {
  if (is_for_later(why.code))
    return fail_engine(*ex, why);
  if (why.code != ec::unavailable)
    return ex->answer_json(std::move(text));
  core.health([ex, why, text = std::move(text)](result<engine_health> is) {
    if (is && is->ready)
      ex->answer_json(text);
    else
      fail_engine(*ex, why);
  });
}

void submit(engine& core, const exchange_ptr& ex, run_request run,
            shaper shape) {
  run.id = run_id::make();
  run.organization = ex->who().organization;
  run.user = ex->who().user;
  run.lenient_arguments = true;
  run.as_letta = true;
  if (auto parent = ex->in().field("traceparent"); parse_traceparent(parent))
    run.traceparent = std::string{parent};
  ex->on_disconnect([&core, who = ex->who(), id = run.id] {
    core.cancel(who, id, [](result<run_record>) {});
  });
  auto function = run.function.empty() ? run.tool_name : run.function;
  core.submit(
    ex->who(), std::move(run),
    [&core, ex, function, shape = std::move(shape)](result<result_ptr> done) {
      if (done)
        ex->answer_json(shape(**done));
      else
        answer_failure(core, ex, done.error(),
                       shape(refused(function, done.error())));
    });
}

/// A function without a name is read before it runs: its schema says what it
/// is called and what it takes, and a source without one is no tool.
void derive_and_submit(engine& core, const exchange_ptr& ex, run_request run,
                       shaper shape) {
  tool anonymous;
  anonymous.source_type = run.lang;
  anonymous.source_code = run.source;
  if (!run.args_json_schema.empty())
    if (auto args = json::parse_object(run.args_json_schema))
      anonymous.args_json_schema = std::move(*args);
  describe_tool(core, ex->who(), std::move(anonymous),
                [&core, ex, run = std::move(run),
                 shape = std::move(shape)](result<tool> full) mutable {
                  if (full) {
                    run.function = full->name;
                    // Arguments that were described by hand win.
                    if (run.args_json_schema.empty())
                      run.json_schema = json::to_text(*full->json_schema);
                  } else if (full.error().code != ec::unavailable) {
                    return fail_engine(*ex, full.error());
                  } // else nobody here reads sources: the run does
                  submit(core, ex, std::move(run), std::move(shape));
                });
}

template <class T, class Parse>
void read_list(json::reader& in, std::string_view name, T& into, Parse parse) {
  auto* v = in.member(name);
  if (!v || v->is_null())
    return;
  auto list = parse(*v, in.pointer_to(name));
  if (list)
    into = std::move(*list);
  else
    in.absorb(list.error());
}

void read_variables(json::reader& in, environment& into) {
  auto* values = in.member_object("env_vars");
  if (!values)
    return;
  for (const auto& [key, value] : *values) {
    auto pointer = json::child(in.pointer_to("env_vars"), key);
    if (auto ok = check_variable_name(key, pointer); !ok)
      in.absorb(ok.error());
    else if (!value.is_string())
      in.absorb(bad_field(pointer, "must be a string"));
    else if (auto fine = check_variable_value(value.get_string(), pointer);
             !fine)
      in.absorb(fine.error());
    else
      into.emplace(std::string{key}, secret{std::string{value.get_string()}});
  }
}

/// A throw-away tool out of the request. Without a schema the source decides
/// which function runs, and what it takes.
run_request read_source_run(json::reader& in, std::string& name) {
  run_request run;
  run.kind = run_kind::source;
  run.source
    = in.required_text("source_code", {.min = 1, .max = bounds::source_bytes});
  if (auto* args = in.member_object("args"))
    run.args_json = json::exact_text(*args);
  else if (!in.has("args"))
    in.complain("args", "is missing", "send {} for none");
  read_variables(in, run.env);
  name = in.text("name", {.max = bounds::name_bytes}).value_or("");
  auto* schema = in.member_object("json_schema");
  auto* args_schema = in.member_object("args_json_schema");
  if (schema)
    run.json_schema = json::to_text(*schema);
  else if (args_schema)
    run.args_json_schema = json::to_text(*args_schema);
  read_list(in, "pip_requirements", run.pip_requirements, parse_pip_list);
  read_list(in, "npm_requirements", run.npm_requirements, parse_npm_list);
  run.function = name;
  if (auto* given = schema ? schema->if_contains("name") : nullptr;
      given && given->is_string())
    run.function = std::string{given->get_string()};
  return run;
}

void run_source(engine& core, const letta_options&, const exchange_ptr& ex) {
  auto body = letta::body_of(*ex);
  if (!body)
    return;
  json::reader in{*body};
  std::string name;
  auto run = read_source_run(in, name);
  auto type = in.text("source_type", {.max = 64});
  if (auto bad = in.finish()) {
    fail_validation(*ex, *bad);
    return;
  }
  if (type && *type != "python" && *type != "typescript") {
    fail(*ex, 400, "INVALID_ARGUMENT: source_type is python or typescript");
    return;
  }
  run.lang = type == "typescript" ? language::typescript : language::python;
  auto shape = [name](const run_result& r) { return return_message(r, name); };
  if (name.empty() && run.json_schema.empty())
    derive_and_submit(core, ex, std::move(run), std::move(shape));
  else
    submit(core, ex, std::move(run), std::move(shape));
}

/// Tools are not attached to agents here: the organization's tool runs, with
/// this agent's variables.
void run_for_agent(engine& core, const letta_options&, const exchange_ptr& ex) {
  auto body = letta::body_of(*ex, true);
  if (!body)
    return;
  json::reader in{*body};
  run_request run;
  if (auto* args = in.member_object("args"))
    run.args_json = json::exact_text(*args);
  if (auto bad = in.finish()) {
    fail_validation(*ex, *bad);
    return;
  }
  caller_catalog mine{core, ex->who().organization};
  if (mine->tools_by_name.find(ex->param(1)) == mine->tools_by_name.end()) {
    fail(*ex, 404,
         "NOT_FOUND: there is no tool '" + std::string{ex->param(1)}
           + "' for this agent");
    return;
  }
  run.kind = run_kind::tool;
  run.tool_name = std::string{ex->param(1)};
  run.agent_id = std::string{ex->param(0).substr(0, bounds::foreign_id_bytes)};
  submit(core, ex, std::move(run), execution_result);
}

} // namespace

void add_runs(doors& to, engine& core) {
  to.add(method::post, "/tools/run", core, run_source, scope::run);
  to.add(method::post, "/agents/{agent}/tools/{name}/run", core, run_for_agent,
         scope::run);
}

} // namespace troupe::net::letta
