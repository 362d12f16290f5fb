#include "app/cli/argument_values.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/details.hpp"
#include "app/cli/session_command.hpp"
#include "app/cli/table.hpp"
#include "app/commands/tool_run.hpp"
#include "net/http/url.hpp"

#include <filesystem>
#include <iostream>
#include <memory>

namespace troupe {

namespace {

using verb = api_client::verb;

struct tool_words {
  std::string name;
  std::string file;
  std::string type;
  std::string description;
  std::string schema;
  std::vector<std::string> tags, pip, npm;
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
                   "set --type to python, typescript or javascript");
}

// -- list, show ---------------------------------------------------------------

result<int> list_tools(const tool_words& said, api_client& engine) {
  auto query = said.search.empty()
    ? std::string{}
    : "search=" + net::percent_encode(said.search);
  return print_list(engine, "/v1/tools", said.as_json,
                    {{"NAME", "name"},
                     {"TYPE", "source_type"},
                     {"TAGS", "tags"},
                     {"ID", "id"},
                     {"DESCRIPTION", "description"}},
                    query);
}

result<int> show_tool(const tool_words& said, api_client& engine) {
  auto tool = engine.call(verb::get, path_of(said.name));
  if (!tool)
    return tool.error();
  if (said.only_source && !said.as_json)
    std::cout << cell(*tool, "source_code") << "\n";
  else
    show_details(*tool, said.as_json);
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

result<int> put_tool(const tool_words& said, api_client& engine) {
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

result<int> delete_tool_named(const tool_words& said, api_client& engine) {
  auto gone = engine.call(verb::delete_, path_of(said.name));
  if (!gone)
    return gone.error();
  return print_deleted(said.name, said.as_json);
}

result<int> print_schema(const tool_words& said, api_client& engine) {
  auto body = source_of(said);
  if (!body)
    return body.error();
  auto derived
    = engine.call(verb::post, "/v1/tools/derive-schema", std::move(*body));
  if (!derived)
    return derived.error();
  std::cout << json::to_text(said.as_json ? *derived
                                          : derived->as_object()["schema"])
            << "\n";
  return int{exit_ok};
}

void add_put(CLI::App* group, invocation& call) {
  auto [cmd, said] = add_session_command(group, call, "put",
                                         "Create or replace a tool", put_tool);
  cmd->add_option("FILE", said->file, "Source file; - for stdin")->required();
  cmd->add_option("--name", said->name, "Name (default: the function's)");
  cmd->add_option("--type", said->type, "python, typescript or javascript");
  cmd->add_option("--description", said->description,
                  "Description (default: from the docstring)");
  cmd->add_option("--schema", said->schema,
                  "JSON schema or @file (default: derived from the source)");
  cmd->add_option("--tag", said->tags, "Tag (repeatable)")
    ->allow_extra_args(false);
  cmd->add_option("--pip", said->pip, "Python package (repeatable)")
    ->allow_extra_args(false);
  cmd->add_option("--npm", said->npm, "Node package (repeatable)")
    ->allow_extra_args(false);
}

} // namespace

void add_tool_command(CLI::App& app, invocation& call) {
  auto group = app.add_subcommand("tool", "Manage and run stored tools");
  {
    auto [cmd, said]
      = add_session_command(group, call, "list", "List tools", list_tools);
    cmd->add_option("--search", said->search, "Only names that contain this");
  }
  {
    auto [cmd, said] = add_session_command(
      group, call, "show", "Show a tool; JSON unless on a terminal", show_tool);
    cmd->add_option("TOOL", said->name, "Name or id")->required();
    cmd->add_flag("--source", said->only_source, "Print only its source");
  }
  add_put(group, call);
  {
    auto [cmd, said] = add_session_command(group, call, "delete",
                                           "Delete a tool", delete_tool_named);
    cmd->add_option("TOOL", said->name, "Name or id")->required();
  }
  add_tool_run(group, call);
  {
    auto [cmd, said] = add_session_command(
      group, call, "schema", "Print the JSON schema of a function",
      print_schema);
    cmd->add_option("FILE", said->file, "Source file; - for stdin")->required();
    cmd->add_option("--type", said->type, "python, typescript or javascript");
  }
}

} // namespace troupe
