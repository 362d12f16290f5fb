#include "runtime/runner/program.hpp"

#include "runtime/json/writer.hpp"
#include "runtime/runner/defaults.hpp"
#include "runtime/runner/frame.hpp"
#include "runtime/runner/request.hpp"
#include "runtime/runner/schema_program.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace troupe::script {

namespace {

/// What a request begins with. It may hold secrets.
class head_writer : public json::object_writer {
public:
  head_writer(std::string_view operation, std::string_view lang)
      : object_writer{style::wiped} {
    text("op", operation).text("lang", lang);
  }
};

bool is_python(language lang) {
  return lang == language::python;
}

/// As the runners spell it.
std::string_view spelled(language lang) {
  switch (lang) {
  case language::python:
    return "python";
  case language::typescript:
    return "typescript";
  case language::javascript:
    return "javascript";
  case language::shell:
    break;
  }
  return "shell";
}

/// What every process of ours starts with; the run's own variables win.
environment with_basics(environment env) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> basics{
    {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
     {"HOME", "/tmp"},
     {"TMPDIR", "/tmp"},
     {"LANG", "C.UTF-8"},
     {"NO_COLOR", "1"},
     {"TERM", "dumb"},
     {"PYTHONUNBUFFERED", "1"},
     {"PYTHONWARNINGS", "ignore"},
     {"PYTHONDONTWRITEBYTECODE", "1"}}};
  for (const auto& [name, value] : basics)
    env.try_emplace(std::string{name}, secret{std::string{value}});
  return env;
}

std::vector<std::string> interpreter(language lang, const program_paths& paths,
                                     const std::string& chosen) {
  if (is_python(lang))
    // Isolated: neither variables nor the working directory have a say in how
    // the interpreter itself starts. UTF-8, whatever the locale.
    return {chosen.empty() ? paths.python : chosen, "-I", "-B", "-X", "utf8",
            paths.runners + "/python/serve.py"};
  return {chosen.empty() ? paths.node : chosen, "--no-warnings",
          paths.runners + "/node/serve.cjs"};
}

result<program> assemble(language lang, const program_paths& paths,
                         const std::string& chosen, frame::message& m,
                         std::size_t answer_limit) {
  auto request = frame::encode(m);
  wipe(m[frame::part::head]); // holds the variables
  if (request.has_error())
    return request.error();
  program p;
  p.by = is_python(lang) ? runner::python : runner::node;
  p.argv = interpreter(lang, paths, chosen);
  p.environment = with_basics({});
  p.request = secret{std::move(*request)};
  p.answer_limit = answer_limit;
  return p;
}

head_writer begin_head(const prepared_run& run, std::string_view operation) {
  head_writer head{operation, spelled(run.lang)};
  head.text("name", run.name).text("function", run.function);
  if (run.may_be_script)
    head.boolean("script", true);
  if (run.as_letta)
    head.boolean("guarded", true);
  return head;
}

/// The files come behind the source: nothing is copied into the head.
void add_files(const prepared_run& run, head_writer& head, std::string& body) {
  head.number("source_bytes", body.size());
  head.list("files", run.files, [&](const run_file& f) {
    head.begin('[').text(f.name);
    head.raw(std::to_string(f.content.size())).end(']');
    body += f.content;
  });
  head.list("outputs", run.outputs,
            [&](const std::string& pattern) { head.text(pattern); });
  head.number("max_files", run.file_bounds.count)
    .number("max_file_bytes", run.file_bounds.bytes_out);
}

bool is_program(const prepared_run& run) {
  return run.kind == run_kind::code || run.may_be_script;
}

std::vector<std::string> argv_of(const prepared_run& run,
                                 const program_paths& paths) {
  if (!run.argv.empty())
    return run.argv;
  return {paths.shell, "-c", run.command};
}

/// A command has files put there, and fetched, by a runner around it.
result<program> command_with_files(const prepared_run& run,
                                   const program_paths& paths) {
  head_writer head{"command", spelled(language::python)};
  head.list("argv", argv_of(run, paths),
            [&](const std::string& word) { head.text(word); });
  frame::message m;
  add_files(run, head, m[frame::part::body]);
  m[frame::part::head] = head.finish();
  auto p = assemble(language::python, paths, {}, m, max_answer_bytes(run));
  if (!p)
    return p;
  p->by = runner::none; // its interpreter is the command's own process
  p->environment = with_basics(run.env);
  p->input = run.stdin_text;
  return p;
}

result<program> command(const prepared_run& run, const program_paths& paths) {
  if (has_files(run))
    return command_with_files(run, paths);
  program p;
  p.argv = argv_of(run, paths);
  p.environment = with_basics(run.env);
  p.input = run.stdin_text;
  return p;
}

} // namespace

result<frame::message> make_request(const prepared_run& run, place where) {
  auto head = begin_head(run, run.kind == run_kind::code ? "code" : "call");
  if (where == place::elsewhere)
    head.texts_by_name("env", run.env).boolean("keep_env", true);
  else
    head.texts_by_name("env", with_basics(run.env));
  head.number("max_value", run.limits.result_bytes)
    .number("max_text", run.return_char_limit);
  if (!run.venv.empty())
    head.text("venv", run.venv);
  if (!run.agent_id.empty())
    head.text("agent_id", run.agent_id);
  if (!run.args_json_schema.empty()) {
    // Pasted as it is, so it must be JSON and nothing else.
    if (auto valid = json::check(run.args_json_schema); valid.has_error())
      return valid.error().within("args_json_schema");
    head.raw("args_schema", run.args_json_schema);
  } else if (!run.json_schema.empty() && !is_python(run.lang)) {
    // As text: only a call whose names do not match needs it read.
    head.text("json_schema", run.json_schema);
  }
  if (is_python(run.lang) && !run.dropped_nulls.empty())
    head.list("nulls", run.dropped_nulls, // its annotations say more
              [&](const auto& path) { head.text(path); });
  if (is_program(run))
    head.number("max_display_bytes", max_display_bytes);
  frame::message m;
  m[frame::part::body] = run.source;
  if (has_files(run))
    add_files(run, head, m[frame::part::body]);
  m[frame::part::head] = head.finish();
  m[frame::part::args] = run.args_json;
  m[frame::part::state] = run.agent_state_json;
  return m;
}

std::size_t max_blob_bytes(const prepared_run& run) {
  return (run.outputs.empty() ? 0 : run.file_bounds.bytes_out)
    + (is_program(run) ? max_display_bytes : 0);
}

std::size_t max_answer_bytes(const prepared_run& run) {
  auto state = run.agent_state_json.empty()
    ? 0
    : defaults::max_state_bytes(run.agent_state_json.size());
  return frame::header_bytes + defaults::max_head_bytes
    + std::max<std::size_t>(run.limits.result_bytes, defaults::min_value_bytes)
    + state + max_blob_bytes(run);
}

environment basic_environment() {
  return with_basics({});
}

environment prestart_environment() {
  return with_basics({{"TROUPE_EARLY", secret{"1"}}});
}

result<program> build_program(const prepared_run& run,
                              const program_paths& paths,
                              std::string_view code) {
  if (run.kind == run_kind::command)
    return command(run, paths);
  if (run.lang == language::shell) {
    auto as_command = run;
    as_command.command = run.source;
    as_command.argv.clear();
    return command(as_command, paths);
  }
  auto m = make_request(run);
  if (m.has_error())
    return m.error();
  (*m)[frame::part::code] = code;
  return assemble(run.lang, paths, run.interpreter, *m, max_answer_bytes(run));
}

result<program> build_compile(const prepared_run& run,
                              const program_paths& paths) {
  if (run.kind == run_kind::command || run.lang == language::shell)
    return bad_field("/language", "a command has nothing to compile");
  auto head = begin_head(run, "compile");
  if (run.kind == run_kind::code)
    head.boolean("snippet", true);
  frame::message m;
  m[frame::part::head] = head.finish();
  m[frame::part::body] = run.source;
  return assemble(run.lang, paths, run.interpreter, m,
                  defaults::max_code_bytes(run.source.size()));
}

result<program> build_schema_program(language lang, std::string_view source,
                                     std::string_view function,
                                     const program_paths& paths) {
  if (lang == language::shell)
    return bad_field("/source_type", "a shell script has no functions",
                     "send a json_schema");
  head_writer head{"schema", spelled(lang)};
  head.text("function", function);
  frame::message m;
  m[frame::part::head] = head.finish();
  m[frame::part::body] = source;
  return assemble(lang, paths, {}, m, defaults::max_schema_bytes);
}

} // namespace troupe::script
