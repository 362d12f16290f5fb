// `troupe tool run`: the one command of the group that takes its time.
#include "app/commands/tool_run.hpp"

#include "app/cli/argument_values.hpp"
#include "app/cli/output_files.hpp"
#include "app/cli/run_output.hpp"
#include "app/cli/session_command.hpp"
#include "app/cli/table.hpp"
#include "net/http/url.hpp"
#include "runtime/base/base64.hpp"

#include <unistd.h>

#include <iostream>

namespace troupe {

namespace {

struct tool_run_words {
  std::string tool;
  std::string args = "{}";
  std::vector<std::string> env;
  file_options files;
  std::string timeout;
  bool detached = false;
  bool stream = false;
  bool as_json = false;
};

result<json::object> request_of(const tool_run_words& said) {
  json::object body;
  auto args = said_arguments(said.args);
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
  auto files = said_files(said.files.in);
  if (!files)
    return files.error();
  if (!files->empty()) {
    json::object by_name;
    for (const auto& each : *files)
      by_name[each.name]
        = json::object{{"base64", frame::to_base64(each.content)}};
    body["files"] = std::move(by_name);
  }
  if (auto wanted = outputs_of(said.files.out, said.files.directory);
      !wanted.empty())
    body["outputs"] = to_array(wanted);
  if (!said.timeout.empty()) {
    auto time = said_timeout(said.timeout);
    if (!time)
      return time.error();
    body["limits"] = json::object{{"wall_seconds", said.timeout}};
  }
  return body;
}

result<int> begin_tool(const tool_run_words& said, api_client& engine,
                       const std::string& target, const json::value& body) {
  if (engine.is_embedded())
    return bad_field("--async",
                     "no engine is running at the configured address",
                     "start `troupe serve` first");
  auto begun = engine.begin(target, body);
  if (!begun)
    return begun.error();
  if (said.as_json) {
    std::cout << json::to_text(*begun) << "\n";
    return int{exit_ok};
  }
  auto id = cell(*begun, "id");
  std::cout << id << "\n";
  std::cerr << "run `troupe runs follow " << id << "`\n";
  return int{exit_ok};
}

/// In the answer, or at a URL of its own.
result<std::string> content_of(const json::value& file, api_client& engine) {
  if (auto coded = cell(file, "base64"); !coded.empty())
    return frame::from_base64(coded);
  if (auto url = cell(file, "url"); !url.empty())
    return engine.text(url);
  return cell(file, "text");
}

result<void> fetch_outputs(const json::value& result,
                           const std::string& directory, api_client& engine) {
  const auto* list = result.get_object().if_contains("files");
  if (list == nullptr || !list->is_array())
    return {};
  std::vector<output_file> files;
  for (const auto& each : list->get_array()) {
    auto content = content_of(each, engine);
    if (!content)
      return content.error();
    output_file f;
    f.name = cell(each, "name");
    f.content = std::move(*content);
    files.push_back(std::move(f));
  }
  return write_outputs(files, directory);
}

result<int> run_tool(const tool_run_words& said, api_client& engine) {
  auto request = request_of(said);
  if (!request)
    return request.error();
  json::value body(std::move(*request));
  auto target = "/v1/tools/" + net::percent_encode(said.tool) + "/run";
  if (said.detached)
    return begin_tool(said, engine, target, body);
  bool live = said.stream || (!said.as_json && ::isatty(STDERR_FILENO) == 1);
  auto done = live ? follow_run(engine, api_client::verb::post, target, body)
                   : engine.call(api_client::verb::post, target, body);
  if (!done)
    return done.error();
  if (auto fetched = fetch_outputs(*done, said.files.directory, engine);
      !fetched)
    return fetched.error();
  if (const auto* files = done->get_object().if_contains("files");
      files == nullptr || !files->is_array() || files->get_array().empty())
    std::cerr << nothing_matched(said.files);
  return print_result(*done, said.as_json, live);
}

} // namespace

void add_tool_run(CLI::App* group, invocation& call) {
  auto [cmd, said] = add_session_command(
    group, call, "run", "Run a stored tool; exit code as `troupe run`",
    run_tool);
  cmd->add_option("TOOL", said->tool, "Name or id")->required();
  cmd->add_option("--args", said->args,
                  "Arguments: a JSON object, @file, or - for stdin");
  cmd->add_option("--env", said->env, "NAME=VALUE (repeatable)")
    ->allow_extra_args(false);
  add_file_options(*cmd, said->files);
  cmd->add_option("--timeout", said->timeout, "5s, 500ms, 2m");
  auto detached
    = cmd->add_flag("--async", said->detached, "Start it and print the run id");
  cmd
    ->add_flag(
      "--stream", said->stream,
      "Print output as it is produced, even if stderr is not a terminal")
    ->excludes(detached);
}

} // namespace troupe
