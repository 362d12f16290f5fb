// The code interpreter's cells.
#include "net/compat/e2b/cell_code.hpp"
#include "net/compat/e2b/execute_stream.hpp"
#include "net/compat/e2b/interpreter.hpp"
#include "net/compat/e2b/wire/connect_rpc.hpp"

#include <atomic>

namespace troupe::net::e2b_facade {

namespace {

constexpr std::size_t largest_call = 2 * bounds::cell_code_bytes;

struct wanted_cell {
  context_choice where;
  cell_spec what;
  json::object variables; // of this one only
};

std::optional<wanted_cell> read_cell(exchange& ex) {
  auto body = call_of(ex);
  if (!body)
    return std::nullopt;
  message_reader message{*body};
  wanted_cell out;
  if (!message.find("code"))
    message.complain("code", "a text");
  out.what.code = message.text("code");
  out.where.id = message.text("context_id");
  const auto said = message.text("language");
  const auto* env = message.object("env_vars");
  if (message.bad()) {
    refuse(ex, 422, message.bad()->message);
    return std::nullopt;
  }
  if (!out.where.id.empty() && !said.empty()) {
    refuse_text(ex, 400, "Only one of context_id or language can be provided");
    return std::nullopt;
  }
  if (env)
    out.variables = *env;
  auto language = language_of(said);
  if (!language) {
    refuse_text(ex, 500, no_language(said));
    return std::nullopt;
  }
  out.where.language = *language;
  return out;
}

/// A client that has gone waits for nothing: the next cell is to begin.
std::function<void()> interrupting(facade& shared, const visit& in,
                                   const sandbox_cell_ptr& cell) {
  return [&shared, in, cell] {
    if (cell->record().ended())
      return;
    shared.sandboxes()->contexts()->find(
      in.who, in.id, cell->record().context,
      [cell](const sandbox_result<sandbox_context_ptr>& found) {
        if (!found)
          return;
        const auto context = *found;
        context->interrupt([context](const sandbox_result<bool>& stopped) {
          if (!stopped || !*stopped)
            context->restart([](const auto&) {});
        });
      });
  };
}

/// A cell on its way to a client, with those around it that set its variables.
struct cell_work {
  facade& shared;
  exchange_ptr ex;
  visit in;
  wanted_cell wanted;
  variable_cells around;
};
using cell_work_ptr = std::shared_ptr<cell_work>;

void fail_cell(const cell_work& work, const sandbox_error& why) {
  if (why.code == ec::not_found && !is_about_sandbox(why))
    return refuse_text(*work.ex, 404,
                       "Context " + work.wanted.where.id + " not found");
  fail_text(*work.ex, work.in, why);
}

/// Queues code of ours, which no client sees.
void run_beside(const cell_work_ptr& work, const std::string& code,
                std::function<void()> then) {
  if (code.empty())
    return then();
  cell_spec what;
  what.code = code;
  work->shared.sandboxes()->contexts()->run(
    work->in.who, work->in.id, work->wanted.where, std::move(what),
    [work,
     then = std::move(then)](const sandbox_result<sandbox_cell_ptr>& ran) {
      if (ran)
        then();
      else
        fail_cell(*work, ran.error());
    });
}

/// Whether the sandbox goes on without the interpreter.
bool runs(facade& shared, const visit& in) {
  const auto out = std::make_shared<std::atomic<bool>>(true);
  shared.sandboxes()->find(
    in.who, in.id, [out](const sandbox_result<sandbox_record_ptr>& found) {
      *out = found && (*found)->state == sandbox_state::running;
    });
  return *out; // told before the call returns, or taken to run
}

void stream_cell(const cell_work_ptr& work, const sandbox_cell_ptr& cell) {
  auto& shared = work->shared;
  const auto context = cell->record().context;
  execute_stream::order order;
  order.cell = cell;
  order.number = shared.known().next_cell(work->in.id, context);
  order.leave = interrupting(shared, work->in, cell);
  order.lost = [&shared, in = work->in, context] {
    shared.known().restart_cells(in.id, context);
    return runs(shared, in);
  };
  std::make_shared<execute_stream>(work->ex, std::move(order))->start();
}

/// Cells of one context run in the order in which they are queued.
void run_cell(const cell_work_ptr& work) {
  auto& contexts = *work->shared.sandboxes()->contexts();
  if (work->wanted.where.language == context_language::python)
    work->wanted.what.code = dedented(work->wanted.what.code);
  auto queued = [work](const sandbox_result<sandbox_cell_ptr>& cell) {
    if (!cell)
      return fail_cell(*work, cell.error());
    stream_cell(work, *cell);
    run_beside(work, work->around.after, [] {});
  };
  run_beside(work, work->around.before,
             [work, &contexts, queued = std::move(queued)] {
               contexts.run(work->in.who, work->in.id, work->wanted.where,
                            work->wanted.what, queued);
             });
}

void run_with_variables(const cell_work_ptr& work) {
  if (!work->wanted.variables.empty()) {
    auto around
      = cells_around(work->wanted.where.language, work->wanted.variables);
    if (!around)
      return refuse_text(*work->ex, 400, message_of(around.error()));
    work->around = std::move(*around);
  }
  run_cell(work);
}

void execute(facade& shared, const exchange_ptr& ex, const visit& in) {
  auto* contexts = contexts_of(shared, *ex);
  auto wanted = contexts ? read_cell(*ex) : std::nullopt;
  if (!wanted)
    return;
  auto work
    = std::make_shared<cell_work>(cell_work{shared, ex, in, *wanted, {}});
  if (wanted->where.id.empty())
    return run_with_variables(work);
  contexts->find(in.who, in.id, wanted->where.id,
                 [work](const sandbox_result<sandbox_context_ptr>& found) {
                   if (!found)
                     return fail_cell(*work, found.error());
                   work->wanted.where.language = (*found)->record().language;
                   run_with_variables(work);
                 });
}

} // namespace

void add_cells(data_routes& into) {
  into.add(method::post, "/code/execute", proof::token, execute, largest_call);
}

} // namespace troupe::net::e2b_facade
