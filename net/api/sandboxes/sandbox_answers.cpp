#include "net/api/sandboxes/sandbox_answers.hpp"

#include "net/api/shared/preconditions.hpp"
#include "net/http/problem.hpp"
#include "runtime/model/codec/sandbox_codec.hpp"

namespace troupe::net {

void fail_with(exchange& ex, const sandbox_error& why) {
  auto r = write_problem(status_of(why), code_of(why), why, ex.in().id,
                         std::string{});
  if (why.retry_after.count() > 0 || retryable(why)) {
    auto passing = static_cast<const error&>(why);
    passing.code = ec::unavailable; // a conflict of states passes as well
    add_retry_after(r, passing);
  }
  ex.answer(std::move(r));
}

std::optional<sandbox_id> sandbox_in_path(exchange& ex) {
  auto id = sandbox_id::parse(ex.param(0));
  if (id)
    return std::move(*id);
  respond_not_found(ex, "sandbox", "/v1/sandboxes");
  return std::nullopt;
}

sandbox_handler<sandbox_record_ptr> record_or_fail(exchange_ptr ex) {
  return or_fail<sandbox_record_ptr>(
    std::move(ex), [](exchange& ex, const sandbox_record_ptr& found) {
      ex.answer_json(json::to_text(to_json(*found)));
    });
}

sandbox_handler<void> nothing_or_fail(exchange_ptr ex) {
  return or_fail<void>(std::move(ex),
                       [](exchange& ex) { respond_no_content(ex); });
}

void sandbox_routes::add(method verb, all_handler work, route_rules rules) {
  auto handle = [engine = engine_, work = std::move(work)](exchange_ptr ex) {
    if (engine)
      return work(*engine, ex);
    fail_with(*ex,
              {sandbox_problem::place_unavailable, ec::unavailable,
               "this engine has no place for sandboxes"});
  };
  add_route(verb, "/v1/sandboxes", std::move(handle), std::move(rules));
}

void sandbox_routes::add(method verb, const std::string& path, one_handler work,
                         route_rules rules, answer_holds holds) {
  auto handle = [engine = engine_, work = std::move(work)](exchange_ptr ex) {
    auto id = sandbox_in_path(*ex);
    if (!id)
      return;
    if (engine)
      work(*engine, *id, ex);
    else
      respond_not_found(*ex, "sandbox", "/v1/sandboxes");
  };
  add_route(verb, "/v1/sandboxes/{sandbox}" + path, std::move(handle),
            std::move(rules), holds);
}

void sandbox_routes::add_route(method verb, std::string path,
                               route_handler work, route_rules rules,
                               answer_holds holds) {
  if (verb == method::post)
    work = memory_->remembering(std::move(work), holds);
  routes_.add(verb, std::move(path), std::move(work), std::move(rules));
}

} // namespace troupe::net
