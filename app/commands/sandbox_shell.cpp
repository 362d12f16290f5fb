// A terminal of a living sandbox in the one that this command was typed in.
#include "app/bridges/attached_terminal.hpp"
#include "app/bridges/engine_dialer.hpp"
#include "app/cli/argument_values.hpp"
#include "app/cli/table.hpp"
#include "app/commands/sandbox_words.hpp"

#include <unistd.h>

#include <cstdlib>
#include <iostream>

namespace troupe {

namespace {

using verb = api_client::verb;

/// The user's own shell, where there is one.
constexpr auto shell_line
  = "command -v bash >/dev/null && exec bash -l; exec sh -l";

struct shell_words {
  std::string id;
  std::vector<std::string> argv;
  std::string cwd;
  std::vector<std::string> env;
  std::string attach;
};

result<json::object> process_of(const shell_words& said) {
  json::object body{{"terminal", json::object{}}};
  if (auto size = size_of_terminal())
    body["terminal"]
      = json::object{{"cols", size->columns}, {"rows", size->rows}};
  if (said.argv.size() > 1)
    body["argv"] = to_array(said.argv);
  else
    body["command"] = said.argv.empty() ? shell_line : said.argv.front();
  put_text(body, "cwd", said.cwd);
  auto env = variables_object(said.env);
  if (!env)
    return env.error();
  const char* kind = std::getenv("TERM");
  if (kind && !env->contains("TERM"))
    (*env)["TERM"] = kind;
  body["env"] = std::move(*env);
  return body;
}

/// The id of its process, which is begun if none was named.
result<std::string> find_terminal(const shell_words& said, api_client& engine) {
  if (auto serves = needs_a_server(engine); !serves)
    return serves.error();
  const auto processes = sandbox_target(said.id, "/processes");
  if (!said.attach.empty()) {
    auto found = engine.call(
      verb::get, processes + "/" + net::percent_encode(said.attach));
    if (!found)
      return found.error();
    if (!found->as_object().at("terminal").is_object())
      return bad_field("--attach", "names a process without a terminal",
                       "`troupe sandbox shell ID` begins one with a terminal");
    return said.attach;
  }
  auto body = process_of(said);
  if (!body)
    return body.error();
  auto begun = engine.call(verb::post, processes, std::move(*body));
  if (!begun)
    return begun.error();
  return cell(*begun, "id");
}

int print_end(const attached_end& end, const shell_words& said,
              const std::string& process) {
  if (end.process.is_object()) {
    if (const auto reason = cell(end.process, "reason"); reason != "exited")
      std::cerr << "troupe: the process ended: " << reason << "\n";
    return code_of_process(end.process);
  }
  std::cerr << "\ntroupe: the terminal goes on; `troupe sandbox shell "
            << said.id << " --attach " << process << "` comes back to it\n";
  return end.signal == 0 ? exit_ok : 128 + end.signal;
}

int open_shell(const shell_words& said, const session_options& how) {
  if (::isatty(STDIN_FILENO) == 0)
    return print_error("standard input is no terminal; use `troupe sandbox "
                       "exec`");
  std::string process;
  const auto found = in_session(how, [&](api_client& engine) -> result<int> {
    auto id = find_terminal(said, engine);
    if (!id)
      return id.error();
    process = *id;
    return int{exit_ok};
  });
  if (found != exit_ok)
    return found;
  auto engine = engine_dialer::find(how);
  if (!engine)
    return print_api_error(engine.error());
  auto end = attach_terminal(
    *engine,
    sandbox_target(said.id,
                   "/processes/" + net::percent_encode(process) + "/terminal"));
  if (end)
    return print_end(*end, said, process);
  print_end({}, said, process);
  return print_api_error(end.error());
}

} // namespace

void add_sandbox_shell_command(CLI::App* group, invocation& call) {
  auto said = std::make_shared<shell_words>();
  auto* cmd = group->add_subcommand(
    "shell", "A terminal in a sandbox; Ctrl-] leaves it, and it goes on");
  cmd->add_option("ID", said->id, "The sandbox")->required();
  cmd->add_option("COMMAND", said->argv,
                  "Another program than a shell, behind --, or one line for "
                  "the shell");
  cmd->add_option("--cwd", said->cwd, "Where it begins");
  cmd
    ->add_option("--env", said->env,
                 "NAME=VALUE, or NAME to pass on our own (repeatable)")
    ->allow_extra_args(false);
  cmd->add_option("--attach", said->attach,
                  "Come back to a terminal, by the id of its process");
  auto session = add_session_options(*cmd);
  call.on(cmd, [said, session] { return open_shell(*said, *session); });
}

} // namespace troupe
