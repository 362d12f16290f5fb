#include "actors/dispatch/run_resolver.hpp"

#include "actors/state/object_pool.hpp"
#include "runtime/json/big_integers.hpp"
#include "runtime/json/reader.hpp"
#include "runtime/model/codec/codec.hpp"
#include "runtime/model/package_requirement_merge.hpp"
#include "runtime/model/schema/bind_arguments.hpp"

#include <algorithm>

namespace troupe {

namespace {

error no_such_tool(const std::string& what,
                   std::string hint
                   = "list the tools of this organization, or send the "
                     "source") {
  return {ec::not_found,
          "there is no tool " + what,
          {{"/tool", "there is no tool " + what, std::move(hint)}}};
}

// Comparing names takes time on a dispatcher: nobody's typo is worth more.
constexpr std::size_t names_to_compare = 200;

error no_tool_named(const std::string& name,
                    const organization_catalog& catalog) {
  std::vector<std::string_view> known;
  for (const auto& [one, id] : catalog.tools_by_name) {
    if (known.size() == names_to_compare)
      break;
    known.push_back(one);
  }
  auto near = json::nearest(name, known);
  auto quoted = "'" + name + "'";
  return near.empty() ? no_such_tool(quoted)
                      : no_such_tool(quoted, "did you mean '" + near + "'?");
}

result<std::shared_ptr<const tool>>
find_tool(const run_request& request, const organization_catalog* catalog) {
  if (request.tool) {
    auto i = catalog ? catalog->tools.find(request.tool)
                     : decltype(catalog->tools.end()){};
    if (!catalog || i == catalog->tools.end())
      return no_such_tool(request.tool.str());
    return i->second;
  }
  if (request.tool_name.empty())
    return bad_field("/tool", "neither a tool id nor a tool name is given");
  if (!catalog)
    return no_such_tool("'" + request.tool_name + "'");
  auto i = catalog->tools_by_name.find(request.tool_name);
  if (i == catalog->tools_by_name.end())
    return no_tool_named(request.tool_name, *catalog);
  auto found = catalog->tools.find(i->second);
  if (found == catalog->tools.end())
    return no_such_tool("'" + request.tool_name + "'");
  return found->second;
}

/// What a stored tool says about where and how it wants to run.
result<void> read_metadata(const tool& t, tool_view& view) {
  if (auto* where = t.metadata.if_contains("sandbox");
      where && where->is_string()) {
    // An unknown word was never refused when it was stored: it is no wish.
    if (auto name = parse_backend_name(where->get_string()))
      view.wish = *name;
  }
  if (auto* said = t.metadata.if_contains(lenient_mark))
    view.lenient_arguments = said->is_bool() && said->get_bool();
  if (auto* said = t.metadata.if_contains("limits"))
    if (auto* o = said->if_object()) {
      auto parsed = parse_limits(*o, "/tool/metadata/limits");
      if (!parsed)
        return parsed.error();
      view.limits = *parsed;
    }
  if (auto* said = t.metadata.if_contains("network")) {
    auto parsed = parse_network(*said, "/tool/metadata/network");
    if (!parsed)
      return parsed.error();
    view.network = *parsed;
  }
  return {};
}

result<tool_view_ptr> read_tool(const std::shared_ptr<const tool>& of) {
  auto view = std::make_shared<tool_view>();
  view->of = of;
  view->function = function_name(*of);
  if (of->json_schema)
    view->json_schema = json::to_text(*of->json_schema);
  if (of->args_json_schema)
    view->args_json_schema = json::to_text(*of->args_json_schema);
  if (auto ok = read_metadata(*of, *view); !ok)
    return ok.error();
  return tool_view_ptr{std::move(view)};
}

result<void> use_tool(const tool_view& view, const run_request& request,
                      resolved_run& r) {
  const auto& t = *view.of;
  auto& run = *r.base;
  r.tool = t.id;
  run.kind = run_kind::source;
  run.lang = t.source_type;
  run.name = t.name;
  run.function = view.function;
  run.source = t.source_code;
  run.json_schema = view.json_schema;
  run.args_json_schema = view.args_json_schema;
  run.lenient_arguments |= view.lenient_arguments;
  r.wish.of_tool = view.wish;
  r.tool_limits = view.limits;
  r.tool_network = view.network;
  run.return_char_limit = request.return_char_limit != 0
    ? std::min(request.return_char_limit, t.return_char_limit)
    : t.return_char_limit;
  auto pip = merge(t.pip_requirements, "the tool", request.pip_requirements,
                   "the run");
  if (!pip)
    return pip.error();
  r.pip = std::move(*pip);
  auto npm = merge(t.npm_requirements, "the tool", request.npm_requirements,
                   "the run");
  if (!npm)
    return npm.error();
  r.npm = std::move(*npm);
  return {};
}

/// The tool that a run without one is: the same uuid, so that one tells the
/// other and nobody has to think of a second one.
tool_id tool_of(const run_id& run) {
  return run.is_sound() ? tool_id::twin_of(run) : tool_id::make();
}

void use_request(const run_request& request, resolved_run& r) {
  auto& run = *r.base;
  // LETTA_TOOL_ID is always there; a node that sends us a stored tool's source
  // says whose it is.
  r.tool = request.tool ? request.tool : tool_of(request.id);
  run.kind = request.kind;
  run.lang = request.lang;
  run.name = request.tool_name.empty() ? request.function : request.tool_name;
  run.function = request.function;
  run.source = request.source;
  run.argv = request.argv;
  run.command = request.command;
  run.stdin_text = request.stdin_text;
  run.json_schema = request.json_schema;
  run.args_json_schema = request.args_json_schema;
  r.pip = request.pip_requirements;
  r.npm = request.npm_requirements;
  if (request.return_char_limit != 0)
    run.return_char_limit = request.return_char_limit;
}

result<void> check_sizes(const run_request& request, const run_rules& rules) {
  if (request.args_json.size() > rules.arguments_bytes)
    return bad_field("/args",
                     "longer than " + std::to_string(rules.arguments_bytes)
                       + " bytes",
                     "pass large data through a file or a URL");
  if (request.source.size() > rules.source_bytes)
    return bad_field("/source",
                     "longer than " + std::to_string(rules.source_bytes)
                       + " bytes");
  switch (request.kind) {
  case run_kind::tool:
    break;
  case run_kind::source:
  case run_kind::code:
    if (request.source.empty())
      return bad_field("/source", "missing");
    break;
  case run_kind::command:
    if (request.argv.empty() && request.command.empty())
      return bad_field("/command", "neither argv nor command is given");
    break;
  }
  return {};
}

/// The names were checked by whoever read them from outside; here again, for
/// those that came from a program.
result<void> check_files(const run_request& request, const file_bounds& most) {
  std::uint64_t bytes = 0;
  for (const auto& file : request.files) {
    bytes += file.content.size();
    if (auto fine = check_file_name(file.name, "/files"); !fine)
      return fine;
  }
  for (std::size_t i = 0; i < request.outputs.size(); ++i)
    if (auto fine = check_output_pattern(request.outputs[i],
                                         "/outputs/" + std::to_string(i));
        !fine)
      return fine;
  if (request.files.size() > most.count)
    return bad_field("/files",
                     "more than " + std::to_string(most.count) + " files",
                     "send an archive, or raise files.count");
  if (request.outputs.size() > most.count)
    return bad_field("/outputs",
                     "more than " + std::to_string(most.count) + " patterns");
  if (bytes > most.bytes_in)
    return bad_field("/files",
                     "more than " + std::to_string(most.bytes_in)
                       + " bytes together",
                     "let the tool fetch them, or raise files.bytes-in");
  return {};
}

bind_options options_for(prepared_run& run) {
  bind_options o;
  o.dropped = &run.dropped_nulls;
  o.lenient = run.lenient_arguments;
  o.python = run.lang == language::python;
  return o;
}

/// The arguments as a stored tool gets them.
result<std::string> bind_to(const tool& t, const run_request& request,
                            prepared_run& run) {
  const auto& schema = t.args_json_schema ? t.args_json_schema : t.json_schema;
  if (!schema)
    return bind_arguments(request.args_json, "");
  const auto options = options_for(run);
  auto args = json::parse_large_object(request.args_json, json::anywhere);
  if (!args)
    return bad_field(options.pointer, args.error().text);
  auto bound = bind_arguments(std::move(*args), *schema, options);
  if (!bound)
    return bound.error();
  return json::exact_text(*bound);
}

/// The same without a stored tool. A snippet's and a command's are what they
/// are: there is no schema to bind them to.
result<std::string> bind(const run_request& request, prepared_run& run) {
  const auto& schema
    = run.args_json_schema.empty() ? run.json_schema : run.args_json_schema;
  return bind_arguments(request.args_json,
                        run.kind == run_kind::source ? schema : "",
                        options_for(run));
}

/// Whose config says that a run must not go on to a weaker isolation.
void read_fallback(const run_request& request,
                   const organization_catalog* catalog,
                   backend_preference& wish) {
  for (auto backend : {wish.of_tool.value_or(wish.standard), wish.standard}) {
    const auto config = stored_config(request, backend, catalog);
    if (!config)
      continue;
    auto* said = config->config.if_contains("allow_weaker_fallback");
    if (said && said->is_bool() && !said->get_bool())
      wish.no_weaker.set(static_cast<std::size_t>(backend.kind()));
  }
}

} // namespace

result<tool_view_ptr> tool_views::find(const std::shared_ptr<const tool>& of) {
  constexpr std::size_t limit = 4'096; // views; then we begin anew
  if (auto i = known_.find(of->id); i != known_.end() && i->second->of == of)
    return i->second;
  auto view = read_tool(of);
  if (!view)
    return view;
  if (known_.size() >= limit)
    known_.clear();
  known_[of->id] = *view;
  return view;
}

result<resolved_run> resolve(const run_request& request,
                             const organization_catalog* catalog,
                             const run_rules& rules, tool_views& tools) {
  if (auto ok = check_sizes(request, rules); !ok)
    return ok.error();
  if (auto ok = check_files(request, rules.files); !ok)
    return ok.error();
  resolved_run r;
  r.base = make_recycled<prepared_run>();
  auto& run = *r.base;
  run.id = request.id;
  run.organization = request.organization;
  run.return_char_limit = default_return_char_limit;
  run.lenient_arguments = request.lenient_arguments;
  run.as_letta = request.as_letta;
  run.may_be_script = request.may_be_script;
  std::shared_ptr<const tool> stored;
  if (request.kind == run_kind::tool) {
    auto tool = find_tool(request, catalog);
    if (!tool)
      return tool.error();
    auto view = tools.find(*tool);
    if (!view)
      return view.error();
    if (auto ok = use_tool(**view, request, r); !ok)
      return ok.error();
    stored = std::move(*tool);
  } else {
    use_request(request, r);
  }
  auto bound = stored ? bind_to(*stored, request, run) : bind(request, run);
  if (!bound)
    return bound.error();
  run.args_json = std::move(*bound);
  run.agent_id = request.agent_id;
  run.agent_state_json = request.agent_state_json;
  run.files = request.files;
  run.outputs = request.outputs;
  run.file_bounds = rules.files;
  run.traceparent = request.traceparent;
  r.wish.of_run = request.backend;
  r.wish.standard = rules.standard_backend;
  r.wish.fail_closed = rules.fail_closed;
  r.wish.local_isolation = request.isolation.value_or(rules.isolation);
  if (request.config) {
    if (!catalog || !catalog->configs.contains(request.config))
      return error{ec::not_found,
                   "there is no sandbox config " + request.config.str(),
                   {{"/config", "no such config", ""}}};
    const auto& config = *catalog->configs.at(request.config);
    const bool for_peer = config.type == backend_kind::local
      && request.backend.value_or(rules.standard_backend) == backend_kind::peer;
    if (request.backend && request.backend->kind() != config.type && !for_peer)
      return bad_field("/backend",
                       "the config " + config.id.str() + " is for "
                         + std::string{to_string(config.type)},
                       "leave out one of the two");
    if (!for_peer)
      r.wish.of_run = request.backend.value_or(config.type);
    else // there or here, as without a config
      r.wish.of_tool = backend_kind::peer;
  }
  if (!r.wish.of_run)
    read_fallback(request, catalog, r.wish);
  return r;
}

} // namespace troupe
