// shell_exec, process_output, process_kill and process_list.
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/codec.hpp"
#include "runtime/toolkit/captured_program.hpp"
#include "runtime/toolkit/missing_file.hpp"
#include "runtime/toolkit/running_cells.hpp"
#include "runtime/toolkit/text_budget.hpp"

#include <csignal>

namespace troupe::toolkit {

namespace {

constexpr std::size_t shown_command = 200;
constexpr std::size_t most_processes = 200;
constexpr std::chrono::milliseconds first_look{500};
constexpr std::chrono::milliseconds silence{300};
constexpr std::chrono::seconds until_kill{5};

/// bash where it is there; the command is an argument and no part of the text.
const std::vector<std::string> shell{
  "sh", "-c",
  "if command -v bash >/dev/null 2>&1; then exec bash -c \"$0\"; "
  "else exec sh -c \"$0\"; fi"};

std::string command_of(const process_record& r) {
  std::string text;
  if (r.argv.size() == shell.size() + 1 && r.argv[2] == shell[2])
    text = r.argv.back();
  else
    for (const auto& word : r.argv)
      text += (text.empty() ? "" : " ") + word;
  text = plain_text(text);
  return characters(text) <= shown_command
    ? text
    : json::repair_utf8(std::string_view{text}.substr(0, shown_command)) + "…";
}

void answer_ended(const call_ptr& call, const captured& done) {
  outcome what;
  what.text
    = output_text(done, call->most_characters()) + ending_text(done.how);
  what.failed = was_killed(done.how);
  call->answer(std::move(what));
}

// -- shell_exec ---------------------------------------------------------------

void shell_exec(const call_ptr& call) {
  process_spec what;
  what.argv = shell;
  what.argv.push_back(call->text("command"));
  what.input = call->text("stdin");
  what.cwd = call->workspace();
  if (call->argument("cwd")) {
    const auto folder = path_argument(call, "cwd");
    if (!folder)
      return;
    what.cwd = *folder;
  }
  const bool background = call->flag("background");
  if (!background)
    what.timeout
      = std::chrono::milliseconds{call->integer("timeout_ms", 300'000)};
  run_or_hand_back(call, std::move(what),
                   background ? first_look : call->wait(),
                   [call](const captured& done) { answer_ended(call, done); });
}

// -- process_output -----------------------------------------------------------

void answer_output(const call_ptr& call, const sandbox_program_ptr& of,
                   output_offsets from) {
  const auto piece = capture(*of, from);
  call->memory().shown(piece.how.id,
                       {piece.how.stdout_bytes, piece.how.stderr_bytes});
  if (piece.how.ended())
    return answer_ended(call, piece);
  auto text = output_text(piece, call->most_characters());
  call->answer((text.empty() ? "[nothing new]\n" : text)
               + ending_text(piece.how));
}

void refuse_unknown(const call_ptr& call, const std::string& id) {
  call->engine().list_processes(
    call->who(), call->sandbox(),
    call->or_fail<std::vector<sandbox_program_ptr>>(
      [call, id](const std::vector<sandbox_program_ptr>& all) {
        std::string text = "There is no process "
          + plain_text(std::string_view{id}.substr(0, 64)) + ".";
        std::size_t shown = 0;
        for (const auto& each : all) {
          const auto record = each->record();
          if (record.ended() || ++shown > 20)
            continue;
          text += (shown == 1 ? " Running: " : ", ") + record.id + " ("
            + command_of(record) + ")";
        }
        call->refuse(text + (shown == 0 ? " None is running." : "."));
      }));
}

void with_program(const call_ptr& call, const std::string& id,
                  std::function<void(sandbox_program_ptr)> then) {
  call->engine().find_process(
    call->who(), call->sandbox(), id,
    [call, id,
     then = std::move(then)](sandbox_result<sandbox_program_ptr> found) {
      if (call->over())
        return;
      if (found)
        then(std::move(*found));
      else if (found.error().code == ec::not_found
               && found.error().problem == sandbox_problem::none)
        refuse_unknown(call, id);
      else
        call->fail(found.error());
    });
}

void read_program(const call_ptr& call, const sandbox_program_ptr& of) {
  const auto id = of->record().id;
  const auto from = call->text("from") == "start" ? output_offsets{}
                                                  : call->memory().shown(id);
  const auto record = of->record();
  if (record.ended() || call->text("from") == "start")
    return answer_output(call, of, from);
  auto read = [weak = std::weak_ptr{call}, of, from] {
    if (const auto call = weak.lock(); call && !call->over())
      answer_output(call, of, from);
  };
  call->after(call->wait(10'000), read);
  // A little later, since more often follows.
  auto waits = of->when_more(from, [weak = std::weak_ptr{call}, of, read] {
    const auto call = weak.lock();
    if (!call)
      return;
    if (of->record().ended())
      read();
    else
      call->after(silence, read);
  });
  if (!waits)
    answer_output(call, of, from);
}

void process_output(const call_ptr& call) {
  const auto id = call->text("process_id");
  if (read_cell(call, id))
    return;
  with_program(call, id, [call](const sandbox_program_ptr& of) {
    read_program(call, of);
  });
}

// -- process_kill -------------------------------------------------------------

void end_program(const call_ptr& call, const sandbox_program_ptr& of) {
  if (of->record().ended()) {
    return call->answer("It has already ended.\n" + ending_text(of->record()));
  }
  const auto name = call->text("signal", "TERM");
  const auto number = parse_signal(name);
  if (!number)
    return call->refuse("signal: TERM, INT, KILL or HUP.");
  of->when_ended([call, of] {
    auto last = capture(*of, call->memory().shown(of->record().id));
    call->answer(output_text(last, call->most_characters())
                 + ending_text(last.how));
  });
  of->signal(*number, [call](sandbox_result<void> sent) {
    // One that ends at this very moment is told by its end.
    if (!sent && sent.error().problem != sandbox_problem::process_ended)
      call->fail(sent.error());
  });
  if (*number != SIGTERM)
    return;
  call->after(until_kill, [weak = std::weak_ptr{call}, of] {
    if (const auto call = weak.lock(); call && !call->over())
      of->signal(SIGKILL, [](auto) {});
  });
}

void kill_by_number(const call_ptr& call, std::int64_t pid) {
  process_spec what;
  what.argv
    = {"kill", "-s", call->text("signal", "TERM"), "--", std::to_string(pid)};
  run_program(
    call, std::move(what), until_kill, [call, pid](const captured& done) {
      if (done.fine())
        call->answer("Sent " + call->text("signal", "TERM") + " to "
                     + std::to_string(pid) + ".");
      else
        call->refuse(plain_text(done.err) + "process_list shows what runs.");
    });
}

void process_kill(const call_ptr& call) {
  const auto id = call->text("process_id");
  const auto pid = call->integer("pid", 0);
  if (id.empty() == (pid == 0))
    return call->refuse("Give exactly one of process_id and pid; process_list "
                        "shows both.");
  if (pid != 0)
    return kill_by_number(call, pid);
  if (interrupt_cell(call, id))
    return;
  with_program(
    call, id, [call](const sandbox_program_ptr& of) { end_program(call, of); });
}

// -- process_list -------------------------------------------------------------

std::string process_json(const sandbox_program_ptr& p) {
  const auto r = p->record();
  json::object_writer out;
  out.text("process_id", r.id);
  if (r.pid != 0)
    out.number("pid", r.pid);
  out.text("command", command_of(r))
    .text("state", r.ended() ? "exited" : "running");
  if (r.reason == process_reason::exited)
    out.number("exit_code", r.exit_code);
  out.text("started_at", to_text(r.started_at));
  return out.finish();
}

void process_list(const call_ptr& call) {
  call->engine().list_processes(
    call->who(), call->sandbox(),
    call->or_fail<std::vector<sandbox_program_ptr>>(
      [call](std::vector<sandbox_program_ptr> all) {
        const bool truncated = all.size() > most_processes;
        if (truncated)
          all.resize(most_processes);
        json::object_writer out;
        out.raw("processes", json::array_of(all, process_json))
          .boolean("truncated", truncated);
        outcome what;
        what.data = what.text = out.finish();
        call->answer(std::move(what));
      }));
}

} // namespace

std::vector<tool_entry> process_tools() {
  return {
    {"shell_exec", "Run a command", "shell",
     "Runs a shell command in the workspace and returns its output. Each "
     "command starts a fresh shell (use cwd, or && in one command). If it is "
     "still running after wait_ms it goes on in the background and you get a "
     "process_id; start servers with background=true.",
     "O",
     R"({"command":{"type":"string","minLength":1,"maxLength":100000},
"cwd":{"type":"string","description":"Folder to run in."},
"stdin":{"type":"string","maxLength":1000000},
"background":{"type":"boolean","default":false},
"wait_ms":{"type":"integer","minimum":0,"maximum":50000,"default":45000,"description":"How long to wait before handing the work to the background."},
"timeout_ms":{"type":"integer","minimum":100,"default":300000,"description":"Killed after this time."},
"max_chars":{"type":"integer","minimum":1000,"maximum":100000,"default":30000,"description":"Cut the result to about this many characters."}})",
     R"(["command"])", shell_exec},
    {"process_output", "Read a background process", "shell",
     "Returns what a background process has written since you last looked, and "
     "whether it still runs. Waits up to wait_ms for something new.",
     "R",
     R"({"process_id":{"type":"string"},
"wait_ms":{"type":"integer","minimum":0,"maximum":50000,"default":10000,"description":"How long to wait for something new."},
"from":{"type":"string","enum":["last","start"],"default":"last"},
"max_chars":{"type":"integer","minimum":1000,"maximum":100000,"default":30000,"description":"Cut the result to about this many characters."}})",
     R"(["process_id"])", process_output},
    {"process_kill", "Stop a process", "shell",
     "Stops a background process and everything it started.", "D",
     R"({"process_id":{"type":"string"},
"pid":{"type":"integer","minimum":2},
"signal":{"type":"string","enum":["TERM","INT","KILL","HUP"],"default":"TERM"}})",
     "[]", process_kill},
    {"process_list", "List processes", "shell",
     "Lists the processes you started in this sandbox.", "RI", "{}", "[]",
     process_list,
     R"({"type":"object","properties":{"processes":{"type":"array","items":{"type":"object","properties":{"process_id":{"type":"string"},"pid":{"type":"integer"},"command":{"type":"string"},"state":{"type":"string","enum":["running","exited"]},"exit_code":{"type":"integer"},"started_at":{"type":"string"}},"required":["process_id","command","state","started_at"]}},"truncated":{"type":"boolean"}},"required":["processes","truncated"]})"},
  };
}

} // namespace troupe::toolkit
