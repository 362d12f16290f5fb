// python_exec and node_exec: code in interpreters that keep their state.
#include "runtime/toolkit/captured_program.hpp"
#include "runtime/toolkit/running_cells.hpp"
#include "runtime/toolkit/text_budget.hpp"

namespace troupe::toolkit {

namespace {

constexpr std::string_view usual_context = "default";
constexpr std::chrono::milliseconds between_looks{500};

struct code_order {
  context_language language;
  std::string context; // as the model calls it
  cell_spec cell;
};

/// What stops a cell of which the caller has gone.
void stop_cell(const call_ptr& call, const sandbox_cell_ptr& cell) {
  auto* contexts = call->engine().contexts();
  contexts->find(call->who(), call->sandbox(), cell->record().context,
                 [](sandbox_result<sandbox_context_ptr> found) {
                   if (found)
                     (*found)->interrupt([](auto) {});
                 });
}

void hand_back(const call_ptr& call, const sandbox_cell_ptr& cell,
               const std::string& context, std::chrono::milliseconds waited) {
  auto so_far = cell_outcome(*cell, {}, call->most_characters(), context);
  const auto record = cell->record();
  if (record.ended())
    return; // its end is being told
  const auto id = call->memory().keep(
    {cell, context, {record.stdout_bytes, record.stderr_bytes}});
  so_far.text.erase(so_far.text.rfind('['));
  so_far.text += "[still running after "
    + seconds_text(static_cast<std::uint64_t>(waited.count())) + ": process_id="
    + id + "; read on with process_output, stop with process_kill; context "
    + context + " is busy until then]";
  call->answer(std::move(so_far));
}

/// A sign of life, where one is wanted.
void tell_running(const call_ptr& call, const sandbox_cell_ptr& cell,
                  std::uint64_t said) {
  if (!call->tells_progress() || call->over())
    return;
  call->after(between_looks, [weak = std::weak_ptr{call}, cell, said] {
    const auto call = weak.lock();
    if (!call || call->over())
      return;
    const auto bytes = cell->record().stdout_bytes;
    if (bytes != said)
      call->progress(with_commas(bytes) + " bytes of output so far");
    tell_running(call, cell, bytes);
  });
}

void wait_for_cell(const call_ptr& call, const sandbox_cell_ptr& cell,
                   const std::string& context) {
  call->on_cancel([weak = std::weak_ptr{call}, cell] {
    if (const auto call = weak.lock())
      stop_cell(call, cell);
  });
  cell->when_ended([call, cell, context] {
    if (!call->over())
      call->answer(cell_outcome(*cell, {}, call->most_characters(), context));
  });
  if (call->over())
    return;
  tell_running(call, cell, 0);
  const auto wait = call->wait();
  call->after(wait, [weak = std::weak_ptr{call}, cell, context, wait] {
    if (const auto call = weak.lock(); call && !call->over())
      hand_back(call, cell, context, wait);
  });
}

void run_in(const call_ptr& call, const code_order& order, std::string id) {
  call->engine().contexts()->run(
    call->who(), call->sandbox(), {std::move(id), order.language}, order.cell,
    call->or_fail<sandbox_cell_ptr>(
      [call, context = order.context](const sandbox_cell_ptr& begun) {
        wait_for_cell(call, begun, context);
      }));
}

void create_and_run(const call_ptr& call, const code_order& order) {
  context_spec what;
  what.language = order.language;
  what.name = order.context;
  what.auto_restart = true;
  call->engine().contexts()->create(
    call->who(), call->sandbox(), std::move(what),
    call->or_fail<sandbox_context_ptr>(
      [call, order](const sandbox_context_ptr& made) {
        run_in(call, order, made->record().id);
      }));
}

void restart_and_run(const call_ptr& call, const code_order& order,
                     const sandbox_context_ptr& context) {
  context->restart(call->or_fail<void>(
    [call, order, context] { run_in(call, order, context->record().id); }));
}

/// Among those that are there.
void find_and_run(const call_ptr& call, const code_order& order) {
  call->engine().contexts()->list(
    call->who(), call->sandbox(),
    call->or_fail<std::vector<sandbox_context_ptr>>(
      [call, order](const std::vector<sandbox_context_ptr>& all) {
        const bool usual = order.context == usual_context;
        for (const auto& each : all) {
          const auto r = each->record();
          if (r.language != order.language
              || (usual ? !r.is_default : r.name != order.context))
            continue;
          if (call->flag("reset"))
            return restart_and_run(call, order, each);
          return run_in(call, order, r.id);
        }
        if (usual)
          run_in(call, order, {});
        else
          create_and_run(call, order);
      }));
}

void run_code(const call_ptr& call, context_language language) {
  if (!call->engine().contexts())
    return call->refuse("This engine has no interpreters that keep their "
                        "state. Use shell_exec.");
  code_order order{language, call->text("context", usual_context), {}};
  if (order.context.empty()
      || order.context.size() > bounds::sandbox_name_bytes)
    return call->refuse("context: a name of 1 to 64 characters.");
  order.cell.code = call->text("code");
  order.cell.timeout
    = std::chrono::milliseconds{call->integer("timeout_ms", 60'000)};
  // The next one would wait behind it.
  if (const auto busy = call->memory().running_in(order.context);
      !busy.empty() && !call->flag("reset"))
    return call->refuse("Context " + order.context + " still runs " + busy
                        + ". Read it with process_output, stop it with "
                          "process_kill, or use another context.");
  if (order.context == usual_context && !call->flag("reset"))
    return run_in(call, order, {});
  find_and_run(call, order);
}

void python_exec(const call_ptr& call) {
  run_code(call, context_language::python);
}

void node_exec(const call_ptr& call) {
  run_code(call,
           call->text("language") == "typescript"
             ? context_language::typescript
             : context_language::javascript);
}

/// What both of them take.
constexpr std::string_view shared_properties
  = R"("code":{"type":"string","minLength":1,"maxLength":1000000},
"context":{"type":"string","default":"default","description":"Another name has its own variables."},
"reset":{"type":"boolean","default":false,"description":"Start the interpreter anew first."},
"wait_ms":{"type":"integer","minimum":0,"maximum":50000,"default":45000,"description":"How long to wait before handing the work to the background."},
"timeout_ms":{"type":"integer","minimum":100,"default":60000,"description":"Killed after this time."},
"max_chars":{"type":"integer","minimum":1000,"maximum":100000,"default":30000,"description":"Cut the result to about this many characters."})";

} // namespace

std::vector<tool_entry> code_tools() {
  static const auto of_python = "{" + std::string{shared_properties} + "}";
  static const auto of_node = "{" + std::string{shared_properties}
    + R"(,"language":{"type":"string","enum":["javascript","typescript"],"default":"javascript","description":"Types are stripped, not checked."}})";
  return {
    {"python_exec", "Run Python", "code",
     "Runs Python code. Variables, imports and functions stay for the next "
     "call. The value of the last expression is shown, charts as images.",
     "O", of_python, R"(["code"])", python_exec},
    {"node_exec", "Run JavaScript", "code",
     "Runs JavaScript or TypeScript in Node. Top-level variables stay for the "
     "next call; import, require and await work. The value of the last "
     "expression is shown.",
     "O", of_node, R"(["code"])", node_exec},
  };
}

} // namespace troupe::toolkit
