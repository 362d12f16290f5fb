// The code interpreter: cells, and the contexts that they run in.
#include "net/compat/e2b/cell_code.hpp"
#include "net/compat/e2b/connect_rpc.hpp"
#include "net/compat/e2b/execute_stream.hpp"
#include "net/compat/e2b/facade.hpp"
#include "net/compat/e2b/paths.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/sandbox_codec.hpp"

#include <algorithm>

namespace troupe::net::e2b_facade {

namespace {

constexpr std::size_t largest_call = 2 * bounds::cell_code_bytes;

/// Failures of the interpreter are texts.
void refuse_text(exchange& ex, int status, std::string text) {
  response r;
  r.status = status;
  r.type = text_type;
  r.body = std::move(text);
  ex.answer(std::move(r));
}

void fail_text(exchange& ex, const visit& in, const sandbox_error& why) {
  if (is_about_sandbox(why))
    return refuse_gone(ex, in.id.str());
  switch (why.code) {
  case ec::not_found:
    return refuse_text(ex, 404, message_of(why));
  case ec::exhausted:
    return refuse_text(ex, 429, message_of(why));
  case ec::invalid_request:
    return refuse_text(ex, 400, message_of(why));
  default:
    return refuse_text(ex, 500, message_of(why));
  }
}

/// Null, and answered, where there are none.
sandbox_contexts* contexts_of(facade& shared, exchange& ex) {
  auto* contexts = shared.sandboxes()->contexts();
  if (!contexts)
    refuse_text(ex, 501, "this engine has no contexts");
  return contexts;
}

std::optional<json::object> body_of(exchange& ex) {
  auto parsed = json::parse_object(ex.in().body, {.wiped = true});
  if (parsed)
    return std::move(*parsed);
  refuse(ex, 422, "the body is no JSON object: " + message_of(parsed.error()));
  return std::nullopt;
}

result<context_language> language_of(std::string_view said) {
  std::string name;
  for (const char c : said)
    if (c != ' ')
      name += c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  if (name == "js")
    name = "javascript";
  if (name == "ts")
    name = "typescript";
  return parse_context_language(name.empty() ? "python" : name);
}

std::string no_language(std::string_view said) {
  return "Language '" + std::string{said}
  + "' is not installed; this server has python, javascript, typescript and "
    "bash";
}

// -- contexts -----------------------------------------------------------------

std::string context_json(const context_record& r) {
  json::object_writer out;
  out.text("id", r.id)
    .text("language", to_string(r.language))
    .text("cwd", r.cwd.empty() ? user_home : std::string_view{r.cwd});
  return out.finish();
}

void create(facade& shared, const exchange_ptr& ex, const visit& in) {
  auto* contexts = contexts_of(shared, *ex);
  auto body = contexts ? body_of(*ex) : std::nullopt;
  if (!body)
    return;
  message_reader message{*body};
  const auto said = message.text("language");
  auto cwd = absolute_path(message.text("cwd"));
  if (message.bad())
    return refuse(*ex, 422, message.bad()->message);
  auto language = language_of(said);
  if (!language)
    return refuse_text(*ex, 500, no_language(said));
  if (!cwd)
    return refuse_text(*ex, 400, message_of(cwd.error()));
  context_spec spec;
  spec.language = *language;
  spec.cwd = *cwd;
  spec.auto_restart = true;
  spec.env.emplace("E2B_SANDBOX_ID", secret{in.id.str()});
  contexts->create(in.who, in.id, std::move(spec),
                   [ex, in](const sandbox_result<sandbox_context_ptr>& made) {
                     if (!made)
                       return fail_text(*ex, in, made.error());
                     ex->answer_json(context_json((*made)->record()));
                   });
}

void answer_list(exchange& ex, const std::vector<sandbox_context_ptr>& all) {
  std::vector<context_record> some;
  for (const auto& each : all)
    some.push_back(each->record());
  std::ranges::stable_sort(some, {}, &context_record::created_at);
  ex.answer_json(json::array_of(some, context_json));
}

/// The first of these languages without a context of its own.
std::optional<context_language>
without_default(const std::vector<sandbox_context_ptr>& all) {
  for (const auto wanted :
       {context_language::python, context_language::javascript})
    if (std::ranges::none_of(all, [&](const sandbox_context_ptr& each) {
          const auto r = each->record();
          return r.is_default && r.language == wanted;
        }))
      return wanted;
  return std::nullopt;
}

/// Clients expect both default contexts in it, which come by their first cells
/// here: what has none yet gets an empty one.
void list_with_defaults(facade& shared, const exchange_ptr& ex, const visit& in,
                        unsigned tries) {
  auto* contexts = shared.sandboxes()->contexts();
  auto found = [&shared, ex, in, tries, contexts](
                 const sandbox_result<std::vector<sandbox_context_ptr>>& all) {
    if (!all)
      return fail_text(*ex, in, all.error());
    const auto missing = without_default(*all);
    if (!missing || tries == 0)
      return answer_list(*ex, *all);
    contexts->run(in.who, in.id, {"", *missing}, cell_spec{},
                  [&shared, ex, in, tries](const auto&) {
                    list_with_defaults(shared, ex, in, tries - 1);
                  });
  };
  contexts->list(in.who, in.id, std::move(found));
}

void list(facade& shared, const exchange_ptr& ex, const visit& in) {
  constexpr unsigned languages = 2;
  if (contexts_of(shared, *ex))
    list_with_defaults(shared, ex, in, languages);
}

using context_work
  = std::function<void(const exchange_ptr&, const sandbox_context_ptr&)>;

/// About the context that the path names.
void with_context(facade& shared, const exchange_ptr& ex, const visit& in,
                  context_work then) {
  auto* contexts = contexts_of(shared, *ex);
  if (!contexts)
    return;
  const std::string name{ex->param(1)};
  contexts->find(in.who, in.id, name,
                 [ex, in, name, then = std::move(then)](
                   const sandbox_result<sandbox_context_ptr>& found) {
                   if (found)
                     return then(ex, *found);
                   if (found.error().code == ec::not_found
                       && !is_about_sandbox(found.error()))
                     return refuse_text(*ex, 404,
                                        "Context " + name + " not found");
                   fail_text(*ex, in, found.error());
                 });
}

void restart(facade& shared, const exchange_ptr& ex, const visit& in) {
  with_context(
    shared, ex, in,
    [&shared, in](const exchange_ptr& ex, const sandbox_context_ptr& found) {
      shared.known().restart_cells(in.id, found->record().id);
      found->restart([ex, in](const sandbox_result<void>& done) {
        if (done)
          return ex->answer_json("null");
        fail_text(*ex, in, done.error());
      });
    });
}

void remove(facade& shared, const exchange_ptr& ex, const visit& in) {
  auto gone = [ex, in](const sandbox_result<void>& done) {
    if (done)
      return ex->answer_json("null");
    fail_text(*ex, in, done.error());
  };
  with_context(
    shared, ex, in,
    [&shared, in, gone](const exchange_ptr&, const sandbox_context_ptr& found) {
      const auto id = found->record().id;
      shared.known().restart_cells(in.id, id);
      shared.sandboxes()->contexts()->remove(in.who, in.id, id, gone);
    });
}

// -- cells --------------------------------------------------------------------

struct wanted_cell {
  context_choice where;
  cell_spec what;
  json::object variables; // of this one only
};

std::optional<wanted_cell> read_cell(exchange& ex) {
  auto body = body_of(ex);
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

void stream_cell(const cell_work_ptr& work, const sandbox_cell_ptr& cell) {
  auto& shared = work->shared;
  const auto context = cell->record().context;
  execute_stream::order order;
  order.cell = cell;
  order.number = shared.known().next_cell(work->in.id, context);
  order.leave = interrupting(shared, work->in, cell);
  order.lost = [&shared, id = work->in.id, context] {
    shared.known().restart_cells(id, context);
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

void add_interpreter(data_routes& into) {
  into.add(
    method::get, "/code/health", proof::none,
    [](facade&, const exchange_ptr& ex, const visit&) {
      ex->answer_json("\"OK\"");
    },
    largest_call);
  into.add(method::post, "/code/execute", proof::token, execute, largest_call);
  into.add(method::post, "/code/contexts", proof::none, create, largest_call);
  into.add(method::get, "/code/contexts", proof::none, list, largest_call);
  into.add(method::post, "/code/contexts/{context}/restart", proof::none,
           restart, largest_call);
  into.add(method::del, "/code/contexts/{context}", proof::none, remove,
           largest_call);
}

} // namespace troupe::net::e2b_facade
