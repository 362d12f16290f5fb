// A process of a living sandbox, as if it ran here: its output as it comes, its
// exit code as ours.
#include "app/cli/argument_values.hpp"
#include "app/cli/table.hpp"
#include "app/commands/sandbox_words.hpp"
#include "runtime/base/base64.hpp"

#include <iostream>

namespace troupe {

int code_of_process(const json::value& process) {
  const auto* code = process.as_object().if_contains("exit_code");
  if (code && code->is_int64())
    return static_cast<int>(code->get_int64());
  if (cell(process, "reason") == "timeout")
    return exit_timeout;
  const auto* number = process.as_object().if_contains("signal");
  if (number && number->is_int64())
    return 128 + static_cast<int>(number->get_int64());
  return exit_ours;
}

namespace {

using verb = api_client::verb;

struct exec_words {
  std::string id;
  std::vector<std::string> argv;
  std::string cwd;
  std::vector<std::string> env;
  std::string input; // a file
  std::string timeout;
  bool detached = false;
  bool as_json = false;
};

result<json::object> process_of(const exec_words& said) {
  json::object body;
  if (said.argv.size() == 1)
    body["command"] = said.argv.front(); // one word is a line for the shell
  else
    body["argv"] = to_array(said.argv);
  if (!said.cwd.empty())
    body["cwd"] = said.cwd;
  if (!said.timeout.empty())
    body["timeout"] = said.timeout;
  if (!said.input.empty()) {
    auto text = read_said_file(said.input, "--stdin");
    if (!text)
      return text.error();
    if (!json::is_utf8(*text))
      return bad_field("--stdin", "is no text",
                       "copy it with `troupe sandbox cp` and read it there");
    body["stdin"] = std::move(*text);
  }
  auto env = variables_object(said.env);
  if (!env)
    return env.error();
  body["env"] = std::move(*env);
  return body;
}

result<void> print_output(const json::object& line) {
  auto bytes = frame::from_base64(cell(line, "data"));
  if (!bytes)
    return bytes.error();
  if (const auto missed = cell(line, "missed");
      missed != "0" && !missed.empty())
    std::cerr << "troupe: " << missed
              << " bytes came faster than they were read and are left out\n";
  auto& to = cell(line, "stream") == "stderr" ? std::cerr : std::cout;
  to << *bytes << std::flush;
  return {};
}

result<int> execute(const exec_words& said, api_client& engine) {
  if (auto serves = needs_a_server(engine); !serves)
    return serves.error();
  auto body = process_of(said);
  if (!body)
    return body.error();
  const auto processes = sandbox_target(said.id, "/processes");
  auto begun = engine.call(verb::post, processes, std::move(*body));
  if (!begun)
    return begun.error();
  if (said.detached) {
    std::cout << (said.as_json ? json::to_text(*begun) : cell(*begun, "id"))
              << "\n";
    return int{exit_ok};
  }
  json::value end;
  auto hear = [&](json::object& line) -> result<void> {
    const auto type = cell(line, "type");
    if (said.as_json)
      std::cout << json::to_text(line) << std::endl;
    if (type == "end")
      end = line.at("process");
    else if (type == "error")
      return read_error(line.at("error").as_object(), ec::unavailable);
    else if (type == "output" && !said.as_json)
      return print_output(line);
    return {};
  };
  auto heard = engine.follow(verb::get,
                             processes + "/" + cell(*begun, "id")
                               + "/output?follow=true&encoding=base64",
                             {}, hear);
  if (!heard)
    return heard.error();
  if (!end.is_object())
    return fail(ec::unavailable, "the engine went away before the end");
  const auto code = code_of_process(end);
  if (const auto reason = cell(end, "reason"); reason != "exited")
    std::cerr << "troupe: the process ended: " << reason << "\n";
  return int{code};
}

} // namespace

void add_sandbox_exec_command(CLI::App* group, invocation& call) {
  auto [cmd, said] = add_sandbox_session_command(
    group, call, "exec", "Run a program in a sandbox; exits with its exit code",
    execute);
  cmd
    ->add_option("COMMAND", said->argv,
                 "A program with its arguments behind --, or one line for the "
                 "shell")
    ->required();
  cmd->add_option("--cwd", said->cwd, "Working directory");
  cmd
    ->add_option("--env", said->env,
                 "NAME=VALUE, or NAME to pass the current value (repeatable)")
    ->allow_extra_args(false);
  cmd->add_option("--stdin", said->input, "File for its standard input, or -");
  cmd->add_option("--timeout", said->timeout, "Kill it after: 5s, 2m");
  cmd->add_flag("--detach", said->detached,
                "Print the process's id and leave it running");
}

} // namespace troupe
