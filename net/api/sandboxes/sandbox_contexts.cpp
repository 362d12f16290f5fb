// Contexts of living sandboxes: interpreters that keep their state, and the
// cells that are run in them.
#include "net/api/sandboxes/sandbox_answers.hpp"
#include "net/api/sandboxes/sandbox_cell_stream.hpp"
#include "net/api/shared/list_page.hpp"
#include "net/api/shared/preconditions.hpp"
#include "net/api/shared/request_body.hpp"
#include "net/api/shared/run_stream.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/sandbox_codec.hpp"

namespace troupe::net {

namespace {

std::string context_text(const sandbox_context_ptr& c) {
  return json::to_text(to_json(c->record()));
}

using context_work = std::function<void(sandbox_contexts&, const sandbox_id&,
                                        const exchange_ptr&)>;

/// A route about the contexts of a sandbox.
sandbox_routes::one_handler with_contexts(context_work work) {
  return [work = std::move(work)](sandbox_engine& engine, const sandbox_id& id,
                                  const exchange_ptr& ex) {
    if (auto* contexts = engine.contexts())
      return work(*contexts, id, ex);
    fail_with(*ex,
              {sandbox_problem::unsupported_here, ec::invalid_request,
               "this engine has no contexts; use exec"});
  };
}

using one_context_work
  = std::function<void(const exchange_ptr&, const sandbox_context_ptr&)>;

sandbox_routes::one_handler with_context(one_context_work work) {
  return with_contexts([work = std::move(work)](sandbox_contexts& contexts,
                                                const sandbox_id& id,
                                                const exchange_ptr& ex) {
    contexts.find(ex->who(), id, std::string{ex->param(1)},
                  or_fail<sandbox_context_ptr>(
                    ex, [work](exchange& ex, const sandbox_context_ptr& found) {
                      work(ex.shared_from_this(), found);
                    }));
  });
}

void create_context(sandbox_contexts& contexts, const sandbox_id& id,
                    const exchange_ptr& ex) {
  auto body = body_of(*ex);
  if (!body)
    return;
  auto spec = parse_context_spec(*body);
  if (!spec) {
    ex->fail(spec.error());
    return;
  }
  contexts.create(ex->who(), id, std::move(*spec),
                  or_fail<sandbox_context_ptr>(
                    ex, [id](exchange& ex, const sandbox_context_ptr& made) {
                      response r;
                      r.status = 201;
                      r.body = context_text(made);
                      r.fields.emplace_back("location",
                                            "/v1/sandboxes/" + id.str()
                                              + "/contexts/"
                                              + made->record().id);
                      ex.answer(std::move(r));
                    }));
}

void list_contexts(sandbox_contexts& contexts, const sandbox_id& id,
                   const exchange_ptr& ex) {
  contexts.list(
    ex->who(), id,
    or_fail<std::vector<sandbox_context_ptr>>(
      ex, [](exchange& ex, const std::vector<sandbox_context_ptr>& all) {
        json::object_writer out;
        out.raw("items", json::array_of(all, context_text));
        ex.answer_json(out.finish());
      }));
}

/// As a stream where one is wanted, else all at once at its end.
void answer_with_cell(const exchange_ptr& ex, const sandbox_cell_ptr& cell) {
  if (auto format = wanted_stream(ex->in()))
    return std::make_shared<sandbox_cell_stream>(ex, cell, *format)->start();
  cell->when_ended([ex, cell] { ex->answer_json(cell_answer_text(*cell)); });
}

void run_cell(sandbox_contexts& contexts, const sandbox_id& id,
              const exchange_ptr& ex, context_choice where) {
  auto body = body_of(*ex);
  if (!body)
    return;
  auto spec
    = parse_cell_spec(*body, where.id.empty() ? &where.language : nullptr);
  if (!spec) {
    ex->fail(spec.error());
    return;
  }
  contexts.run(ex->who(), id, std::move(where), std::move(*spec),
               or_fail<sandbox_cell_ptr>(
                 ex, [](exchange& ex, const sandbox_cell_ptr& cell) {
                   answer_with_cell(ex.shared_from_this(), cell);
                 }));
}

void interrupt_context(const exchange_ptr& ex,
                       const sandbox_context_ptr& context) {
  context->interrupt(or_fail<bool>(ex, [](exchange& ex, bool interrupted) {
    json::object_writer out;
    out.boolean("interrupted", interrupted);
    ex.answer_json(out.finish());
  }));
}

void restart_context(const exchange_ptr& ex,
                     const sandbox_context_ptr& context) {
  context->restart(or_fail<void>(
    ex, [context](exchange& ex) { ex.answer_json(context_text(context)); }));
}

} // namespace

void add_sandbox_contexts(router& routes, const api_options& options,
                          const memory_ptr& memory) {
  sandbox_routes all{routes, options, memory};
  const auto look = needing(scope::run, body_rule::none);
  auto begin = needing(scope::run);
  begin.body_limit = 2 * bounds::cell_code_bytes; // it is escaped in JSON
  const std::string contexts = "/contexts";
  const std::string one = contexts + "/{context}";
  all.add(method::post, "/execute",
          with_contexts(
            [](sandbox_contexts& contexts, const sandbox_id& id,
               const exchange_ptr& ex) { run_cell(contexts, id, ex, {}); }),
          begin);
  all.add(method::post, contexts, with_contexts(create_context), begin);
  all.add(method::get, contexts, with_contexts(list_contexts), look);
  all.add(
    method::get, one,
    with_context([](const exchange_ptr& ex, const sandbox_context_ptr& found) {
      ex->answer_json(context_text(found));
    }),
    look);
  all.add(method::del, one,
          with_contexts([](sandbox_contexts& contexts, const sandbox_id& id,
                           const exchange_ptr& ex) {
            contexts.remove(ex->who(), id, std::string{ex->param(1)},
                            nothing_or_fail(ex));
          }),
          look);
  all.add(method::post, one + "/execute",
          with_contexts([](sandbox_contexts& contexts, const sandbox_id& id,
                           const exchange_ptr& ex) {
            run_cell(contexts, id, ex, {std::string{ex->param(1)}});
          }),
          begin);
  all.add(method::post, one + "/interrupt", with_context(interrupt_context),
          look);
  all.add(method::post, one + "/restart", with_context(restart_context), look);
}

} // namespace troupe::net
