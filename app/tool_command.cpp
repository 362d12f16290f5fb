#include "app/commands.hpp"
#include "app/said_text.hpp"
#include "app/session_command.hpp"
#include "app/table.hpp"
#include "net/client/url.hpp"

#include <filesystem>
#include <iostream>
#include <memory>

namespace troupe {

namespace {

using verb = api_session::verb;

struct tool_words {
  std::string name;
  std::string file;
  std::string type;
  std::string description;
  std::string schema;
  std::vector<std::string> tags, pip, npm, env;
  std::string args;
  std::string timeout;
  std::string search;
  bool as_json = false;
  bool only_source = false;
};

std::string path_of(const std::string& tool) {
  return "/v1/tools/" + net::percent_encode(tool);
}

result<std::string> type_of(const tool_words& said) {
  if (!said.type.empty())
    return said.type;
  auto end = std::filesystem::path{said.file}.extension().string();
  if (end == ".py")
    return std::string{"python"};
  if (end == ".ts" || end == ".mts")
    return std::string{"typescript"};
  if (end == ".js" || end == ".mjs" || end == ".cjs")
    return std::string{"javascript"};
  return bad_field("FILE", "cannot tell the language of '" + said.file + "'",
                   "give --type python, typescript or javascript");
}

json::array to_array(const std::vector<std::string>& texts) {
  json::array all;
  for (const auto& text : texts)
    all.emplace_back(text);
  return all;
}

// -- list, show ---------------------------------------------------------------

result<int> list_tools(const tool_words& said, api_session& engine) {
  auto query = said.search.empty()
    ? std::string{}
    : "search=" + net::percent_encode(said.search);
  auto all = engine.list("/v1/tools", query);
  if (!all)
    return all.error();
  if (said.as_json) {
    std::cout << json::to_text(json::value{std::move(*all)}) << "\n";
    return int{exit_ok};
  }
  table rows{{"NAME", "TYPE", "TAGS", "ID", "DESCRIPTION"}};
  for (const auto& tool : *all)
    rows.add({cell(tool, "name"), cell(tool, "source_type"), cell(tool, "tags"),
              cell(tool, "id"), cell(tool, "description")});
  rows.print(std::cout);
  return int{exit_ok};
}

result<int> show_tool(const tool_words& said, api_session& engine) {
  auto tool = engine.call(verb::get, path_of(said.name));
  if (!tool)
    return tool.error();
  std::cout << (said.only_source ? cell(*tool, "source_code")
                                 : json::to_text(*tool))
            << "\n";
  return int{exit_ok};
}

// -- put, delete, schema ------------------------------------------------------

result<json::object> source_of(const tool_words& said) {
  auto type = type_of(said);
  if (!type)
    return type.error();
  auto source = read_said_file(said.file, "FILE");
  if (!source)
    return source.error();
  json::object body;
  body["source_type"] = *type;
  body["source_code"] = *source;
  return body;
}

result<int> put_tool(const tool_words& said, api_session& engine) {
  auto body = source_of(said);
  if (!body)
    return body.error();
  if (!said.name.empty())
    (*body)["name"] = said.name;
  if (!said.description.empty())
    (*body)["description"] = said.description;
  if (!said.tags.empty())
    (*body)["tags"] = to_array(said.tags);
  if (!said.pip.empty())
    (*body)["pip_requirements"] = to_array(said.pip);
  if (!said.npm.empty())
    (*body)["npm_requirements"] = to_array(said.npm);
  if (!said.schema.empty()) {
    auto schema = said_object(said.schema, "--schema");
    if (!schema)
      return schema.error();
    (*body)["json_schema"] = std::move(*schema);
  }
  auto tool = engine.call(verb::put, "/v1/tools", std::move(*body));
  if (!tool)
    return tool.error();
  if (said.as_json)
    std::cout << json::to_text(*tool) << "\n";
  else
    std::cout << cell(*tool, "name") << "  " << cell(*tool, "id")
              << "  revision " << cell(*tool, "revision") << "\n";
  return int{exit_ok};
}

result<int> delete_tool_named(const tool_words& said, api_session& engine) {
  auto gone = engine.call(verb::delete_, path_of(said.name));
  if (!gone)
    return gone.error();
  return int{exit_ok};
}

result<int> print_schema(const tool_words& said, api_session& engine) {
  auto body = source_of(said);
  if (!body)
    return body.error();
  auto derived
    = engine.call(verb::post, "/v1/tools/derive-schema", std::move(*body));
  if (!derived)
    return derived.error();
  std::cout << json::to_text(derived->as_object()["schema"]) << "\n";
  return int{exit_ok};
}

// -- run ----------------------------------------------------------------------

int exit_code_of(const json::value& result) {
  auto reason = cell(result, "reason");
  if (reason == "wall_timeout" || reason == "cpu_timeout")
    return exit_timeout;
  if (reason == "start_failed" || reason == "lost")
    return exit_ours;
  return cell(result, "status") == "success" ? exit_ok : exit_tool_failed;
}

/// The value alone on standard output, so that it can be piped.
void print_result(const json::value& r) {
  std::cerr << cell(r, "stdout") << cell(r, "stderr");
  std::cout.flush();
  if (cell(r, "status") == "success") {
    auto value = r.get_object().if_contains("value");
    std::cout << (value ? json::to_text(*value) : "null") << "\n";
    return;
  }
  auto error = r.get_object().if_contains("error");
  auto why = error ? cell(*error, "friendly") : std::string{};
  if (why.empty())
    why = cell(r, "detail");
  std::cerr << "troupe: " << cell(r, "reason")
            << (why.empty() ? "" : ": " + why) << "\n";
}

result<int> run_tool(const tool_words& said, api_session& engine) {
  json::object body;
  auto args = said_object(said.args.empty() ? "{}" : said.args, "--args");
  if (!args)
    return args.error();
  body["args"] = std::move(*args);
  auto env = said_variables(said.env, "--env");
  if (!env)
    return env.error();
  json::object variables;
  for (const auto& [name, value] : *env)
    variables[name] = value.reveal();
  if (!variables.empty())
    body["env"] = std::move(variables);
  if (!said.timeout.empty())
    body["limits"] = json::object{{"wall_seconds", said.timeout}};
  auto done
    = engine.call(verb::post, path_of(said.name) + "/run", std::move(body));
  if (!done)
    return done.error();
  if (said.as_json)
    std::cout << json::to_text(*done) << "\n";
  else
    print_result(*done);
  return exit_code_of(*done);
}

void add_put(CLI::App* group, invocation& call) {
  auto [cmd, said] = add_session_command(
    group, call, "put", "Create a tool, or replace the one of that name",
    put_tool);
  cmd->add_option("FILE", said->file, "Its source; - is standard input")
    ->required();
  cmd->add_option("--name", said->name, "Else the function's");
  cmd->add_option("--type", said->type, "python, typescript or javascript");
  cmd->add_option("--description", said->description, "Else the docstring's");
  cmd->add_option("--schema", said->schema,
                  "JSON schema or @file; else derived from the source");
  cmd->add_option("--tag", said->tags, "For listings (repeatable)");
  cmd->add_option("--pip", said->pip, "A Python package (repeatable)");
  cmd->add_option("--npm", said->npm, "A Node package (repeatable)");
  cmd->add_flag("--json", said->as_json, "For programs");
}

void add_run(CLI::App* group, invocation& call) {
  auto [cmd, said] = add_session_command(
    group, call, "run", "Run a stored tool; exits as `troupe run` does",
    run_tool);
  cmd->add_option("TOOL", said->name, "Name or id")->required();
  cmd->add_option("--args", said->args,
                  "Its arguments: a JSON object, @file, or - for stdin");
  cmd->add_option("--env", said->env, "NAME=VALUE (repeatable)")
    ->allow_extra_args(false);
  cmd->add_option("--timeout", said->timeout, "5s, 500ms, 2m");
  cmd->add_flag("--json", said->as_json, "The whole result, for programs");
}

} // namespace

void add_tool_command(CLI::App& app, invocation& call) {
  auto group
    = app.add_subcommand("tool", "Keep tools in an engine, and run them");
  {
    auto [cmd, said]
      = add_session_command(group, call, "list", "Tools by name", list_tools);
    cmd->add_option("--search", said->search, "Only names with this in them");
    cmd->add_flag("--json", said->as_json, "For programs");
  }
  {
    auto [cmd, said] = add_session_command(
      group, call, "show", "Everything about one tool, as JSON", show_tool);
    cmd->add_option("TOOL", said->name, "Name or id")->required();
    cmd->add_flag("--source", said->only_source, "Only its source");
  }
  add_put(group, call);
  {
    auto [cmd, said] = add_session_command(group, call, "delete",
                                           "Delete a tool", delete_tool_named);
    cmd->add_option("TOOL", said->name, "Name or id")->required();
  }
  add_run(group, call);
  {
    auto [cmd, said] = add_session_command(
      group, call, "schema", "Print the JSON schema of a function",
      print_schema);
    cmd->add_option("FILE", said->file, "Its source; - is standard input")
      ->required();
    cmd->add_option("--type", said->type, "python, typescript or javascript");
  }
}

} // namespace troupe
