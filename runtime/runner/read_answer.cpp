#include "runtime/runner/read_answer.hpp"

#include "runtime/json/members.hpp"
#include "runtime/model/value_notes.hpp"
#include "runtime/runner/agent_state.hpp"
#include "runtime/runner/defaults.hpp"
#include "runtime/runner/frame.hpp"
#include "runtime/runner/read_files.hpp"
#include "runtime/runner/request.hpp"
#include "runtime/runner/stdout_frame.hpp"

#include <csignal>
#include <cstdint>
#include <string>
#include <utility>

namespace troupe::script {

namespace {

using frame::part;

std::string seconds(std::chrono::milliseconds t) {
  auto ms = t.count();
  auto text = std::to_string(ms / 1000);
  if (ms % 1000 != 0) {
    auto rest = std::to_string(1000 + ms % 1000).substr(1);
    rest.erase(rest.find_last_not_of('0') + 1);
    text += "." + rest;
  }
  return text + (ms == 1000 ? " second" : " seconds");
}

std::string mebibytes(std::uint64_t bytes) {
  return bytes % (1u << 20) == 0 ? std::to_string(bytes >> 20) + " MiB"
                                 : std::to_string(bytes) + " bytes";
}

struct ending {
  std::string name; // of the failure
  std::string message;
};

/// What the runners call a value that is too large for its limit.
constexpr const char* too_large = "ResultTooLarge";

std::string how_it_ended(const run_result& seen) {
  if (seen.reason == exit_reason::signaled)
    return "the process was killed by signal " + std::to_string(seen.signal);
  return "the process ended with exit code " + std::to_string(seen.exit_code);
}

/// What a run that was ended, or never began, died of.
ending cause_of(const prepared_run& run, const run_result& seen) {
  const auto& l = run.limits;
  switch (seen.reason) {
  case exit_reason::exited:
  case exit_reason::raised:
  case exit_reason::signaled:
    return {"NoResult", how_it_ended(seen) + " before it returned a value"};
  case exit_reason::wall_timeout:
    return {"TimeoutError",
            (run.name.empty() ? "The run" : "Executing tool " + run.name)
              + " timed out after " + seconds(l.wall)
              + (run.as_letta && l.wall.count() == 1000 ? "s." : ".")};
  case exit_reason::cpu_timeout:
    return {"CpuTimeoutError",
            "it used its " + seconds(l.cpu) + " of CPU time"};
  case exit_reason::memory_limit:
    return {"MemoryLimitError",
            "it used more than its " + mebibytes(l.memory_bytes)
              + " of memory"};
  case exit_reason::output_limit:
    if (!seen.stdout_truncated && !seen.stderr_truncated)
      return {"OutputLimitError",
              "it returned more than its " + mebibytes(l.result_bytes)
                + " of JSON"};
    return {"OutputLimitError",
            "it printed more than its " + mebibytes(l.output_bytes)};
  case exit_reason::pids_limit:
    return {"ProcessLimitError",
            "it started more than its " + std::to_string(l.processes)
              + " processes and threads"};
  case exit_reason::disk_limit:
    // Somebody may have sent the signal: it is only what the kernel means by
    // it.
    return {"DiskLimitError",
            seen.signal == SIGXFSZ
              ? "it was killed by SIGXFSZ, which means a file of more than its "
                + mebibytes(l.disk_bytes)
              : "it wrote more than its " + mebibytes(l.disk_bytes)};
  case exit_reason::syscall_blocked:
    return {"SandboxViolation",
            "it was killed by SIGSYS, which means a system call that the "
            "sandbox does not allow: by the number of another architecture, "
            "or the tool sent the signal itself"};
  case exit_reason::policy_denied:
    return {"PolicyDenied", "it did something that the policy does not allow"};
  case exit_reason::cancelled:
    return {"CancelledError", "it was cancelled"};
  case exit_reason::start_failed:
    return {"StartFailed",
            seen.detail.empty() ? "it could not be started" : seen.detail};
  case exit_reason::lost:
    return {
      "LostError",
      "the process or node that executed it died; it may or may not have run"};
  }
  return {"NoResult", how_it_ended(seen)};
}

/// `called`: the function that the runner chose, where the run names none.
std::string_view shown_name(const prepared_run& run, std::string_view called) {
  if (!run.function.empty())
    return run.function;
  if (!called.empty())
    return called;
  const bool is_program = run.kind == run_kind::code || run.may_be_script;
  return is_program ? std::string_view{} : run.name;
}

void fail(const prepared_run& run, run_result& seen, ending why,
          std::string_view called = {}) {
  seen.status = run_status::error;
  if (seen.detail.empty())
    seen.detail = why.message;
  seen.failure.name = std::move(why.name);
  seen.failure.message = json::repair_utf8(why.message);
  seen.failure.friendly = friendly_message(
    shown_name(run, called), seen.failure.name, seen.failure.message);
}

bool ended_by_itself(const run_result& seen) {
  return seen.reason == exit_reason::exited
    || seen.reason == exit_reason::signaled;
}

/// It has no channel to answer on.
bool is_command(const prepared_run& run) {
  return run.kind == run_kind::command || run.lang == language::shell;
}

void interpret_command(const prepared_run& run, run_result& seen) {
  if (seen.reason == exit_reason::exited && seen.exit_code == 0) {
    seen.status = run_status::success;
    return;
  }
  auto why = cause_of(run, seen);
  if (ended_by_itself(seen))
    why = {"CommandError", how_it_ended(seen)};
  fail(run, seen, std::move(why));
}

bool flag_of(const json::object& o, std::string_view name) {
  const auto* v = o.if_contains(name);
  return v != nullptr && v->is_bool() && v->get_bool();
}

std::uint64_t number_of(const json::object& o, std::string_view name) {
  const auto* v = o.if_contains(name);
  return v != nullptr && v->is_int64() && v->get_int64() > 0
    ? static_cast<std::uint64_t>(v->get_int64())
    : 0;
}

/// The tool raised something, or the runner could not do its job.
void take_failure(const prepared_run& run, const json::object& head,
                  run_result& seen) {
  const auto* about = head.if_contains("error");
  if (about == nullptr || !about->is_object())
    return fail(run, seen, {"InvalidAnswer", "a failure without a reason"});
  const auto& o = about->get_object();
  auto name = json::text_or_empty(o, "name");
  if (name.empty())
    name = "Error";
  auto called = json::text_or_empty(o, "function");
  fail(run, seen,
       {std::string{first_characters(name, defaults::max_name_characters)},
        json::text_or_empty(o, "message")},
       first_characters(called, defaults::max_name_characters));
  seen.failure.traceback = json::text_or_empty(o, "traceback");
  if (seen.reason == exit_reason::exited)
    seen.reason = exit_reason::raised;
  // A tool may call an error of its own so.
  if (seen.failure.name == too_large
      && json::text_or_empty(o, "said_by") == "runner")
    seen.reason = exit_reason::output_limit;
}

void cut_as_letta(const prepared_run& run, std::size_t length_before,
                  run_result& seen) {
  auto cut
    = truncate_value(seen.value_json, run.return_char_limit, length_before);
  if (cut.empty())
    return;
  seen.value_json = std::move(cut);
  seen.value_truncated = true;
}

/// A part of a value is another value: it is null, with the size that it had.
void leave_out_if_long(const prepared_run& run, std::size_t length_before,
                       run_result& seen) {
  const std::size_t limit = run.return_char_limit;
  auto length = length_before;
  if (length == 0 && limit != 0)
    length = value_characters(seen.value_json, limit);
  if (length_before == 0 && length <= limit)
    return;
  seen.value_json = "null";
  seen.value_encoding.clear();
  seen.value_truncated = true;
  seen.value_size = length;
  seen.notes.push_back("the value is null: its " + std::to_string(length)
                       + " characters are more than return_char_limit, "
                       + std::to_string(limit)
                       + "; raise that, or write a file and name it in "
                         "`outputs`");
}

/// True when the value is good, and taken over.
bool take_value(const prepared_run& run, const json::object& head,
                std::string& value, run_result& seen) {
  auto valid = json::check(
    value,
    {.depth = defaults::max_value_depth,
     .bytes = run.limits.result_bytes + defaults::min_value_bytes});
  if (valid.has_error()) {
    fail(
      run, seen,
      {"InvalidAnswer", "the return value is not JSON: " + valid.error().text});
    return false;
  }
  // Between its tokens only: in strings there are none. A stream is a line per
  // event, and a tool may break none of them.
  std::erase_if(value,
                [](char c) { return c == '\n' || c == '\r' || c == '\t'; });
  seen.value_is_text_fallback = flag_of(head, "fallback");
  if (flag_of(head, "odd_numbers"))
    seen.notes.emplace_back(odd_numbers_note);
  seen.value_json = std::move(value);
  if (json::text_or_empty(head, "encoding") == "base64"
      && seen.value_json.starts_with('"'))
    seen.value_encoding = "base64";
  auto before = static_cast<std::size_t>(number_of(head, "cut_from"));
  if (run.as_letta)
    cut_as_letta(run, before, seen);
  else
    leave_out_if_long(run, before, seen);
  return true;
}

/// False when the tool tampered with who is who.
bool take_state(const prepared_run& run, std::string_view after,
                run_result& seen) {
  if (run.agent_state_json.empty())
    return true;
  auto change = after.empty()
    ? result<state_change>{state_change{run.agent_state_json}}
    : compare_agent_state(run.agent_state_json, after);
  if (change.has_error()) {
    fail(run, seen, {"AgentStateRefused", change.error().text});
    return false;
  }
  seen.agent_state_json = std::move(change->after_json);
  seen.agent_state_diff = std::move(change->patch_json);
  return true;
}

result<json::object> head_of(const frame::message& m) {
  return json::parse_object(m[part::head],
                            {.depth = 6, .bytes = defaults::max_head_bytes});
}

/// Of a command the runner around it answers for its files alone.
void take_command_files(const prepared_run& run, const frame::message& m,
                        run_result& seen) {
  auto head = head_of(m);
  if (!head)
    return fail(run, seen, {"InvalidAnswer", head.error().text});
  if (auto files = take_files(run, *head, m[part::args], seen); !files)
    fail(run, seen, {"InvalidAnswer", files.error().text});
  else if (json::text_or_empty(*head, "status") != "success")
    take_failure(run, *head, seen);
}

void take_answer(const prepared_run& run, frame::message m, run_result& seen) {
  auto head = head_of(m);
  if (head.has_error())
    return fail(run, seen, {"InvalidAnswer", head.error().text});
  if (auto files = take_files(run, *head, m[part::args], seen); !files)
    return fail(run, seen, {"InvalidAnswer", files.error().text});
  if (json::text_or_empty(*head, "status") != "success")
    return take_failure(run, *head, seen);
  if (!take_value(run, *head, m[part::body], seen)
      || !take_state(run, m[part::state], seen))
    return;
  seen.status = run_status::success;
  if (seen.reason == exit_reason::signaled || seen.exit_code != 0)
    seen.notes.push_back("after its answer " + how_it_ended(seen));
}

} // namespace

void interpret_message(const prepared_run& run,
                       std::optional<frame::message> answer, run_result& seen) {
  seen.status = run_status::error;
  if (is_command(run)) {
    interpret_command(run, seen);
    if (answer && ended_by_itself(seen))
      take_command_files(run, *answer, seen);
    return;
  }
  if (!ended_by_itself(seen) || !answer)
    return fail(run, seen, cause_of(run, seen));
  take_answer(run, std::move(*answer), seen);
}

void interpret(const prepared_run& run, std::string_view answer,
               run_result& seen) {
  if (answer.empty() || !ended_by_itself(seen)
      || (is_command(run) && !has_files(run)))
    return interpret_message(run, {}, seen);
  auto m = frame::decode(frame::kind::answer, answer, max_answer_bytes(run));
  if (m.has_error())
    return fail(
      run, seen,
      {"InvalidAnswer",
       how_it_ended(seen) + " and its answer is unusable: " + m.error().text});
  interpret_message(run, std::move(*m), seen);
}

void interpret_remote(const prepared_run& run, std::string_view key,
                      run_result& seen) {
  auto found
    = frame::read_keyed_frame(seen.stdout_text, key, max_answer_bytes(run));
  if (found.has_error()) {
    fail(run, seen, {"InvalidAnswer", found.error().text});
    return;
  }
  seen.stdout_text = std::move(found->text);
  interpret_message(run, std::move(found->frame), seen);
}

result<std::string> parse_compiled(std::string_view answer) {
  auto m = frame::decode(frame::kind::answer, answer, answer.size());
  if (m.has_error())
    return m.error();
  auto head = json::parse_object((*m)[part::head]);
  if (head.has_error())
    return head.error();
  if (json::text_or_empty(*head, "status") == "success")
    return std::move((*m)[part::code]);
  const auto* about = head->if_contains("error");
  auto why = about != nullptr && about->is_object()
    ? json::text_or_empty(about->get_object(), "message")
    : std::string{"the compiler gave no reason"};
  return bad_field("/source_code", why);
}

} // namespace troupe::script
