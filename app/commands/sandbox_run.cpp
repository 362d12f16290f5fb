// A piece of code in an interpreter of a living sandbox, which keeps what it
// defines for the next piece.
#include "app/cli/argument_values.hpp"
#include "app/cli/table.hpp"
#include "app/commands/sandbox_words.hpp"

#include <iostream>

namespace troupe {

namespace {

using verb = api_client::verb;

constexpr int exit_cell_failed = 1;

struct run_words {
  std::string id;
  std::string file;
  std::string code;
  std::string language = "python";
  std::string context;
  std::string timeout;
  bool as_json = false;
};

result<std::string> code_of(const run_words& said) {
  if (said.file.empty() == said.code.empty())
    return bad_field("FILE", "names the code, as -c does",
                     "give one of them; - is standard input");
  if (!said.code.empty())
    return said.code;
  return read_said_file(said.file, "FILE");
}

/// What people can read of a value.
void print_bundle(const json::object& line) {
  const auto* data = line.if_contains("data");
  if (!data || !data->is_object())
    return;
  if (const auto text = cell(*data, "text/plain"); !text.empty())
    std::cout << text << std::endl;
  for (const auto& form : data->as_object())
    if (form.key() != "text/plain")
      std::cerr << "troupe: there is " << form.key()
                << " as well; --json shows it\n";
}

result<void> print_cell_line(const json::object& line) {
  const auto type = cell(line, "type");
  if (type == "stdout" || type == "stderr")
    (type == "stdout" ? std::cout : std::cerr)
      << cell(line, "text") << std::flush;
  else if (type == "display" || type == "result" || type == "update")
    print_bundle(line);
  else if (type == "error" && line.if_contains("traceback"))
    std::cerr << cell(line, "traceback");
  else if (type == "error")
    return read_error(line.at("error").as_object(), ec::unavailable);
  return {};
}

int code_of_cell(const json::object& end) {
  const auto status = cell(end, "status");
  if (status == "ok")
    return exit_ok;
  if (status != "error")
    std::cerr << "troupe: the cell ended: " << status
              << "; what was defined is " << cell(end, "state") << "\n";
  if (const auto detail = cell(end, "detail"); !detail.empty())
    std::cerr << "troupe: " << detail << "\n";
  return status == "timeout" ? exit_timeout
    : status == "lost"       ? exit_ours
                             : exit_cell_failed;
}

result<int> run_cell(const run_words& said, api_client& engine) {
  if (auto serves = needs_a_server(engine); !serves)
    return serves.error();
  auto code = code_of(said);
  if (!code)
    return code.error();
  json::object body;
  body["code"] = std::move(*code);
  if (!said.timeout.empty())
    body["timeout"] = said.timeout;
  std::string target = "/execute";
  if (said.context.empty())
    body["language"] = said.language;
  else
    target = "/contexts/" + net::percent_encode(said.context) + target;
  std::optional<int> ended;
  auto hear = [&](json::object& line) -> result<void> {
    if (said.as_json)
      std::cout << json::to_text(line) << std::endl;
    else if (auto printed = print_cell_line(line); !printed)
      return printed;
    if (cell(line, "type") == "end")
      ended = code_of_cell(line);
    return {};
  };
  auto heard
    = engine.follow(verb::post, sandbox_target(said.id, target), body, hear);
  if (!heard)
    return heard.error();
  if (!ended)
    return fail(ec::unavailable, "the engine went away before the end");
  return int{*ended};
}

} // namespace

void add_sandbox_run_command(CLI::App* group, invocation& call) {
  auto [cmd, said] = add_sandbox_session_command(
    group, call, "run",
    "Run code in an interpreter that keeps its state between calls", run_cell);
  cmd->add_option("FILE", said->file, "Source file; - for stdin");
  cmd->add_option("-c,--code", said->code, "Run this text in place of a file");
  cmd->add_option(
    "--language", said->language,
    "python, javascript, typescript or bash: its default context");
  cmd->add_option("--context", said->context,
                  "Context id (default: the default context of the language)");
  cmd->add_option("--timeout", said->timeout, "Interrupt it after: 5s, 2m");
}

} // namespace troupe
