// Snapshots of sandboxes, forks, branches, and the way back.
#include "net/api/sandboxes/sandbox_answers.hpp"
#include "net/api/shared/preconditions.hpp"
#include "net/api/shared/request_body.hpp"
#include "net/http/problem.hpp"
#include "runtime/engine/sandbox_contexts.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/sandbox_codec.hpp"

namespace troupe::net {

namespace {

std::string snapshot_text(const snapshot_record_ptr& r) {
  return json::to_text(to_json(*r));
}

sandbox_handler<snapshot_record_ptr> snapshot_or_fail(exchange_ptr ex,
                                                      int status) {
  return or_fail<snapshot_record_ptr>(
    std::move(ex), [status](exchange& ex, const snapshot_record_ptr& found) {
      response r;
      r.status = status;
      r.body = snapshot_text(found);
      if (status == 201)
        r.fields.emplace_back("location", "/v1/snapshots/" + found->id.str());
      ex.answer(std::move(r));
    });
}

void take_snapshot(sandbox_engine& engine, const sandbox_id& id,
                   const exchange_ptr& ex) {
  auto body = optional_body_of(*ex);
  if (!body)
    return;
  auto name = parse_snapshot_name(*body);
  if (!name) {
    ex->fail(name.error());
    return;
  }
  engine.snapshot(ex->who(), id, std::move(*name), snapshot_or_fail(ex, 201));
}

void roll_back(sandbox_engine& engine, const sandbox_id& id,
               const exchange_ptr& ex) {
  auto body = body_of(*ex);
  if (!body)
    return;
  auto snapshot = parse_rollback(*body);
  if (!snapshot) {
    ex->fail(snapshot.error());
    return;
  }
  engine.rollback(ex->who(), id, std::move(*snapshot), record_or_fail(ex));
}

/// A fork that could not be made says why, beside those that could.
std::string fork_text(const sandbox_result<sandbox_record_ptr>& made) {
  json::object_writer out;
  if (made) {
    out.raw("sandbox", json::to_text(to_json(**made)));
    return out.finish();
  }
  json::object_writer why;
  why.text("code", code_of(made.error())).text("detail", made.error().text);
  out.raw("error", why.finish());
  return out.finish();
}

void fork_sandbox(sandbox_engine& engine, const sandbox_id& id,
                  const exchange_ptr& ex) {
  auto body = optional_body_of(*ex);
  if (!body)
    return;
  auto what = parse_fork(*body);
  if (!what) {
    ex->fail(what.error());
    return;
  }
  engine.fork(ex->who(), id, std::move(*what),
              or_fail<sandbox_engine::forks>(
                ex, [](exchange& ex, const sandbox_engine::forks& all) {
                  json::object_writer out;
                  out.raw("items", json::array_of(all, fork_text));
                  response r;
                  r.status = 201;
                  r.body = out.finish();
                  ex.answer(std::move(r));
                }));
}

std::string branch_text(const sandbox_branch& made) {
  // In braces it would be a list of one.
  const auto quoted
    = [](const std::string& text) { return json::to_text(json::value(text)); };
  const auto context_text = [quoted](const sandbox_branch::context& c) {
    json::object_writer out;
    out.text("id", c.id).raw("lost", json::array_of(c.lost, quoted));
    return out.finish();
  };
  json::object_writer out;
  out.raw("sandbox", json::to_text(to_json(*made.sandbox)))
    .raw("contexts", json::array_of(made.contexts, context_text));
  return out.finish();
}

std::string left_text(const sandbox_branches::left_context& left) {
  json::object_writer out;
  out.text("id", left.id).text("reason", left.reason);
  return out.finish();
}

void branch_sandbox(sandbox_engine& engine, const sandbox_id& id,
                    const exchange_ptr& ex) {
  auto body = optional_body_of(*ex);
  if (!body)
    return;
  auto what = parse_branch(*body);
  if (!what) {
    ex->fail(what.error());
    return;
  }
  if (!engine.contexts())
    return respond_not_found(*ex, "context", "/v1/sandboxes");
  engine.contexts()->branch(
    ex->who(), id, std::move(*what),
    or_fail<sandbox_branches>(
      ex, [](exchange& ex, const sandbox_branches& made) {
        json::object_writer out;
        out.raw("items", json::array_of(made.all, branch_text))
          .raw("left", json::array_of(made.left, left_text));
        response r;
        r.status = 201;
        r.body = out.finish();
        ex.answer(std::move(r));
      }));
}

void list_snapshots(sandbox_engine& engine, const exchange_ptr& ex) {
  engine.list_snapshots(
    ex->who(),
    or_fail<std::vector<snapshot_record_ptr>>(
      ex, [](exchange& ex, const std::vector<snapshot_record_ptr>& all) {
        json::object_writer out;
        out.raw("items", json::array_of(all, snapshot_text));
        ex.answer_json(out.finish());
      }));
}

} // namespace

void add_snapshots(router& routes, const api_options& options,
                   const memory_ptr& memory) {
  sandbox_routes all{routes, options, memory};
  const auto look = needing(scope::run, body_rule::none);
  all.add(method::post, "/snapshots", take_snapshot, needing(scope::run));
  all.add(method::post, "/rollback", roll_back, needing(scope::run));
  all.add(method::post, "/fork", fork_sandbox, needing(scope::run));
  all.add(method::post, "/branch", branch_sandbox, needing(scope::run));
  auto* engine = options.sandboxes;
  const auto with_engine = [engine](auto work) {
    return [engine, work](const exchange_ptr& ex) {
      if (engine)
        work(*engine, ex);
      else
        respond_not_found(*ex, "snapshot", "/v1/snapshots");
    };
  };
  const std::string one = "/v1/snapshots/{snapshot}";
  routes.add(method::get, "/v1/snapshots", with_engine(list_snapshots), look);
  routes.add(method::get, one,
             with_engine([](sandbox_engine& e, const exchange_ptr& ex) {
               e.find_snapshot(ex->who(), std::string{ex->param(0)},
                               snapshot_or_fail(ex, 200));
             }),
             look);
  routes.add(method::del, one,
             with_engine([](sandbox_engine& e, const exchange_ptr& ex) {
               e.remove_snapshot(ex->who(), std::string{ex->param(0)},
                                 nothing_or_fail(ex));
             }),
             look);
}

} // namespace troupe::net
