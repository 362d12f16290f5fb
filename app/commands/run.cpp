#include "app/assembly/engine_lock.hpp"
#include "app/assembly/options_from_settings.hpp"
#include "app/assembly/standalone_local.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/output_files.hpp"
#include "app/cli/run_options.hpp"
#include "app/cli/settings_options.hpp"
#include "app/logging/log_line.hpp"
#include "runtime/model/codec/codec.hpp"
#include "runtime/model/value_notes.hpp"
#include "runtime/packages/backend_with_packages.hpp"

#include <boost/asio/signal_set.hpp>

#include <cstdio>
#include <future>
#include <memory>
#include <mutex>

namespace troupe {

namespace {

void print(std::FILE* to, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

/// Passes output on as it comes, and waits for the end.
class watcher final : public run_observer {
public:
  watcher(bool stream, std::FILE* out) : stream_{stream}, out_{out} {}

  void output(output_stream which, std::string_view text) override {
    if (stream_)
      print(which == output_stream::out ? out_ : stderr, text);
  }
  void progress(std::string_view line) override {
    print(stderr, "troupe: " + std::string{line} + "\n");
  }
  void finished(run_outcome outcome) override {
    outcome_.set_value(std::move(outcome));
  }
  run_outcome wait() { return outcome_.get_future().get(); }

private:
  bool stream_;
  std::FILE* out_;
  std::promise<run_outcome> outcome_;
};

int exit_code_of(const run_result& r) {
  switch (r.reason) {
  case exit_reason::wall_timeout:
  case exit_reason::cpu_timeout:
    return exit_timeout;
  case exit_reason::start_failed:
  case exit_reason::lost:
    return exit_ours;
  case exit_reason::exited:
  case exit_reason::raised:
  case exit_reason::signaled:
  case exit_reason::memory_limit:
  case exit_reason::output_limit:
  case exit_reason::pids_limit:
  case exit_reason::disk_limit:
  case exit_reason::syscall_blocked:
  case exit_reason::policy_denied:
  case exit_reason::cancelled:
    break;
  }
  return r.status == run_status::success ? exit_ok : exit_tool_failed;
}

/// What a program prints is what it is run for. Of a call that was asked for
/// the value is, so that it can be piped.
std::FILE* output_of(const prepared_run& run) {
  return run.may_be_script || run.lang == language::shell ? stdout : stderr;
}

/// For people: what it printed, and the value on standard output.
void print_for_people(const run_result& r, const prepared_run& run,
                      bool streamed) {
  if (!streamed) {
    print(output_of(run), r.stdout_text);
    print(stderr, r.stderr_text);
  }
  if (r.stdout_truncated || r.stderr_truncated)
    print(stderr, "troupe: the output was truncated at its limit\n");
  // A program has no value, unless its last line is one.
  const bool has_value = run.lang != language::shell
    && !(run.may_be_script && r.value_json == "null");
  if (r.value_truncated) {
    print(stderr, size_note(r.value_size));
  } else if (r.status == run_status::success && has_value) {
    auto bytes = bytes_to_print(r.value_json, r.value_encoding);
    print(stdout, bytes ? *bytes : r.value_json + "\n");
  }
  if (r.status == run_status::success)
    return;
  // The runner prints the traceback on the tool's own stderr as well.
  if (!r.failure.traceback.empty()
      && r.stderr_text.find(r.failure.traceback) == std::string::npos)
    print(stderr, r.failure.traceback + "\n");
  auto why = r.failure.friendly.empty() ? r.detail : r.failure.friendly;
  print(stderr,
        "troupe: " + std::string{to_string(r.reason)}
          + (why.empty() ? "" : ": " + strip_control_characters(why)) + "\n");
}

/// The packages that a run asks for, installed as the server would. Kept in
/// the data directory, which a run without packages leaves alone.
class packages {
public:
  static result<std::unique_ptr<packages>>
  open(std::shared_ptr<local_backend> local, const settings& s) {
    std::unique_ptr<packages> made{new packages};
    made->builder_ = std::make_shared<environment_builder>(
      local, environment_options_from(s));
    if (auto opened = made->builder_->open(); !opened) {
      if (auto other = engine_using(store_options_from(s).data_directory))
        return fail(ec::conflict,
                    "packages are kept in the data directory, which " + *other
                      + " uses; run it there (troupe tool put, troupe "
                        "tool run), or use another --data-dir");
      return std::move(opened).error().within("open the package sets");
    }
    made->runs_
      = std::make_shared<environment_backend>(std::move(local), made->builder_);
    return made;
  }
  ~packages() {
    builder_->stop();
    if (runs_)
      runs_->stop();
  }
  backend& runs() { return *runs_; }

private:
  packages() = default;
  std::shared_ptr<environment_builder> builder_;
  std::shared_ptr<environment_backend> runs_;
};

run_outcome carry_out(standalone_local& engine, const settings& s,
                      const prepared_run_ptr& request,
                      const std::shared_ptr<watcher>& seen) {
  std::unique_ptr<packages> wanted;
  if (!request->pip_requirements.empty()
      || !request->npm_requirements.empty()) {
    auto opened = packages::open(engine.shared_backend(), s);
    if (!opened)
      return {opened.error(), false};
    wanted = std::move(*opened);
  }
  backend& runs = wanted ? wanted->runs() : engine.backend();
  boost::asio::signal_set signals{engine.executor(), SIGINT, SIGTERM};
  signals.async_wait([&](boost::system::error_code code, int) {
    if (!code)
      runs.cancel(request->id, exit_reason::cancelled);
  });
  runs.start(request, seen);
  auto outcome = seen->wait();
  signals.cancel();
  return outcome;
}

/// The engine failed, or would not begin. Who reads JSON gets the one object
/// that was promised, people a sentence.
int tell_failure(const run_options& said, const prepared_run& run,
                 const error& why, int code, bool may_have_started = false) {
  if (said.as_json) {
    run_result r;
    r.id = run.id;
    r.reason = may_have_started ? exit_reason::lost : exit_reason::start_failed;
    r.detail = why.text;
    r.isolation.level = run.isolation;
    print(stdout, to_json_text(r) + "\n");
  }
  return print_error(why.text, code);
}

int run_as_said(const run_options& said, settings_options& how) {
  auto configured = how.load();
  if (!configured)
    return print_error(configured.error());
  const auto& s = configured->values;
  auto run = make_run(said, s);
  if (!run)
    return print_error(run.error().text);
  auto options = local_options_from(s);
  options.isolation = run->isolation;
  options.zygote.enabled = false; // the run would be over before it is warm
  auto engine = standalone_local::open(std::move(options));
  if (!engine)
    return tell_failure(said, *run, engine.error(), exit_ours);

  auto seen = std::make_shared<watcher>(
    said.stream, said.as_json ? stderr : output_of(*run));
  auto request = std::make_shared<const prepared_run>(std::move(*run));
  auto outcome = carry_out(**engine, s, request, seen);
  if (!outcome.answer) {
    const auto& why = outcome.answer.error();
    return tell_failure(said, *request, why, exit_code_of(why.code),
                        outcome.may_have_started);
  }
  if (said.as_json)
    print(stdout, to_json_text(*outcome.answer) + "\n");
  else
    print_for_people(*outcome.answer, *request, said.stream);
  for (const auto& note : outcome.answer->notes)
    if (!said.as_json
        && (note.find("left out") != note.npos || note == not_utf8_note))
      print(stderr, "troupe: " + strip_control_characters(note) + "\n");
  if (auto kept = write_outputs(outcome.answer->files, said.files.directory);
      !kept)
    return print_error(kept.error());
  if (outcome.answer->files.empty())
    print(stderr, nothing_matched(said.files));
  return exit_code_of(*outcome.answer);
}

} // namespace

void add_run_command(CLI::App& app, invocation& call) {
  auto said = std::make_shared<run_options>();
  auto* cmd = app.add_subcommand(
    "run",
    "Run a script, or a function of it, in a sandbox on this machine, without "
    "a server");
  cmd->add_option(
    "FILE", said->file,
    "A .py, .ts, .js or .sh file; - for stdin (Python without --language)");
  cmd->add_option("-c,--code", said->code, "Run this text in place of a file");
  cmd->add_option("--language", said->language,
                  "python, typescript, javascript or shell");
  cmd->add_option("--function", said->function,
                  "Call this function (default: run the file as a program; of "
                  "a file that only defines, call the last, or last exported, "
                  "function)");
  cmd->add_option("--args", said->args,
                  "Call it with these: a JSON object, @file, or - for stdin");
  cmd
    ->add_option("--env", said->env,
                 "NAME=VALUE, or NAME to pass the current value (repeatable)")
    ->allow_extra_args(false);
  add_file_options(*cmd, said->files);
  cmd->add_option("--timeout", said->timeout, "5s, 500ms, 2m");
  cmd->add_option("--memory", said->memory, "256MiB");
  cmd->add_option("--network", said->network,
                  "off, public or allow=host,host:port");
  cmd->add_option("--pip", said->pip, "Python package to install (repeatable)")
    ->allow_extra_args(false);
  cmd->add_option("--npm", said->npm, "Node package to install (repeatable)")
    ->allow_extra_args(false);
  auto off
    = cmd->add_flag("--no-isolation", said->without_isolation,
                    "Run it as an ordinary process; for trusted code only");
  cmd
    ->add_flag("--best-effort", said->best_effort,
               "Run it even if this host lacks a layer of isolation")
    ->excludes(off);
  cmd->add_flag("--json", said->as_json, "Print the whole result as JSON");
  cmd->add_flag("--stream", said->stream, "Print output as it is produced");
  auto how = add_settings_options(*cmd);
  call.on(cmd, [said, how] { return run_as_said(*said, *how); });
}

} // namespace troupe
