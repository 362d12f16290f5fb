#include "runtime/toolkit/captured_program.hpp"

#include "runtime/base/text.hpp"
#include "runtime/toolkit/text_budget.hpp"

#include <csignal>

namespace troupe::toolkit {

namespace {

constexpr std::size_t whole_window = 64u << 20;
constexpr std::size_t longest_progress = 200;
constexpr std::chrono::milliseconds between_progress{250};
constexpr std::size_t progress_window = 4'096;

std::uint64_t took(const process_record& how) {
  const auto end = how.ended_at.value_or(how.started_at);
  return static_cast<std::uint64_t>(
    std::chrono::duration_cast<std::chrono::milliseconds>(end - how.started_at)
      .count());
}

std::string last_line(std::string_view text) {
  text = trim(text);
  if (const auto end = text.rfind('\n'); end != text.npos)
    text.remove_prefix(end + 1);
  auto line = plain_text(text);
  if (characters(line) > longest_progress)
    line
      = json::repair_utf8(std::string_view{line}.substr(0, longest_progress));
  return line;
}

/// Words end at the first NUL, and would be others than were meant.
bool refuse_nul(const call_ptr& call, const process_spec& what) {
  for (const auto& word : what.argv)
    if (word.find('\0') != word.npos) {
      call->refuse("A command cannot have NUL characters in it. Write them to "
                   "a file, or give them as stdin.");
      return true;
    }
  return false;
}

} // namespace

captured capture(const sandbox_program& program, output_offsets from) {
  captured c;
  c.how = program.record(); // first: what it wrote is there then
  auto out = program.read(output_stream::out, from.out, whole_window);
  auto err = program.read(output_stream::err, from.err, whole_window);
  c.out = std::move(out.bytes);
  c.err = std::move(err.bytes);
  c.missed = out.missed + err.missed;
  return c;
}

void run_program(const call_ptr& call, process_spec what,
                 std::chrono::milliseconds limit,
                 std::function<void(captured)> then) {
  if (refuse_nul(call, what))
    return;
  what.timeout = limit;
  call->engine().start(
    call->who(), call->sandbox(), std::move(what),
    call->or_fail<sandbox_program_ptr>(
      [call, then = std::move(then)](sandbox_program_ptr begun) {
        call->on_cancel([begun] { begun->signal(SIGKILL, [](auto) {}); });
        begun->when_ended([call, begun, then] {
          if (!call->over())
            then(capture(*begun));
        });
      }));
}

void run_or_hand_back(const call_ptr& call, process_spec what,
                      std::chrono::milliseconds wait,
                      std::function<void(captured)> then) {
  if (refuse_nul(call, what))
    return;
  call->engine().start(
    call->who(), call->sandbox(), std::move(what),
    call->or_fail<sandbox_program_ptr>([call, wait, then = std::move(then)](
                                         sandbox_program_ptr begun) {
      call->on_cancel([begun] { begun->signal(SIGKILL, [](auto) {}); });
      begun->when_ended([call, begun, then] {
        if (!call->over())
          then(capture(*begun));
      });
      if (call->over())
        return;
      tell_progress(call, begun);
      call->after(wait, [weak = std::weak_ptr{call}, begun, wait] {
        const auto call = weak.lock();
        if (!call || call->over())
          return;
        auto so_far = capture(*begun);
        if (so_far.how.ended())
          return; // its end is being told
        call->memory().shown(
          so_far.how.id, {so_far.how.stdout_bytes, so_far.how.stderr_bytes});
        call->answer(
          output_text(so_far, call->most_characters()) + "[still running after "
          + seconds_text(static_cast<std::uint64_t>(wait.count()))
          + ": process_id=" + so_far.how.id
          + "; read on with process_output, stop with process_kill]");
      });
    }));
}

void tell_progress(const call_ptr& call, const sandbox_program_ptr& program,
                   output_offsets seen) {
  if (!call->tells_progress() || call->over())
    return;
  auto next = [weak = std::weak_ptr{call}, program] {
    const auto call = weak.lock();
    const auto record = program->record();
    if (!call || call->over() || record.ended())
      return;
    const auto end = record.stdout_bytes;
    const auto from = end > progress_window ? end - progress_window : 0;
    auto line = last_line(
      program->read(output_stream::out, from, progress_window).bytes);
    if (!line.empty())
      call->progress(std::move(line));
    call->after(between_progress, [weak, program, record] {
      if (const auto call = weak.lock())
        tell_progress(call, program,
                      {record.stdout_bytes, record.stderr_bytes});
    });
  };
  // With too many readers there is no progress to tell.
  (void)program->when_more(seen, std::move(next));
}

std::string ending_text(const process_record& how) {
  const auto time = seconds_text(took(how));
  switch (how.reason) {
  case process_reason::exited:
    return "[exit " + std::to_string(how.exit_code) + " · " + time + "]";
  case process_reason::signaled:
    return "[exit " + std::to_string(128 + how.signal) + " · killed by signal "
      + std::to_string(how.signal) + " · " + time + "]";
  case process_reason::timeout:
    return "[killed: wall_timeout after " + time
      + " · output so far above; give a larger timeout_ms, or background=true]";
  case process_reason::killed:
    return "[killed · " + time + "]";
  case process_reason::running:
    return "[still running: process_id=" + how.id + "]";
  case process_reason::sandbox_ended:
  case process_reason::lost:
    break;
  }
  return "[lost: the sandbox ended while it ran"
    + (how.detail.empty() ? std::string{} : " · " + plain_text(how.detail))
    + " · the next call gets a new sandbox]";
}

bool was_killed(const process_record& how) {
  return how.reason == process_reason::timeout
    || how.reason == process_reason::sandbox_ended
    || how.reason == process_reason::lost;
}

std::string output_text(const captured& program, std::size_t most) {
  const auto window = [](std::string_view bytes, std::string& into) {
    into += plain_text(bytes);
    if (!into.empty() && into.back() != '\n')
      into += '\n';
  };
  std::string text;
  if (program.missed > 0)
    text = "[the first " + with_commas(program.missed)
      + " bytes of output are gone: send it to a file to keep it]\n";
  window(program.out, text);
  if (!program.err.empty()) {
    text += "[stderr]\n";
    window(program.err, text);
  }
  return cut_middle(text, most,
                    "to see all of it, send it to a file and use file_read");
}

} // namespace troupe::toolkit
