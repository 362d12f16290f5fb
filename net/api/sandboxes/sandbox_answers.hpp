#pragma once

#include "net/api/sandboxes/sandbox_routes.hpp"
#include "net/api/shared/api_options.hpp"
#include "net/server/exchange.hpp"
#include "runtime/engine/sandbox_engine.hpp"

#include <optional>
#include <string>
#include <utility>

/// What the routes of living sandboxes share.
namespace troupe::net {

/// The failure with its closer code.
void fail_with(exchange& ex, const sandbox_error& why);

/// The id in the path. A malformed one is as unknown as a foreign one.
std::optional<sandbox_id> sandbox_in_path(exchange& ex);

/// A handler that fails the exchange, or goes on with what came.
template <class T, class Then>
sandbox_handler<T> or_fail(exchange_ptr ex, Then then) {
  return [ex = std::move(ex), then = std::move(then)](sandbox_result<T> came) {
    if (!came)
      return fail_with(*ex, came.error());
    if constexpr (std::is_void_v<T>)
      then(*ex);
    else
      then(*ex, std::move(*came));
  };
}

/// 200 with what is known of the sandbox.
sandbox_handler<sandbox_record_ptr> record_or_fail(exchange_ptr ex);

/// 204 for what has been done.
sandbox_handler<void> nothing_or_fail(exchange_ptr ex);

/// Routes of which each needs the engine of sandboxes and most a sandbox. Where
/// there is no such engine they say so. What is posted is remembered for its
/// Idempotency-Key.
class sandbox_routes {
public:
  using all_handler = std::function<void(sandbox_engine&, const exchange_ptr&)>;
  using one_handler = std::function<void(sandbox_engine&, const sandbox_id&,
                                         const exchange_ptr&)>;

  sandbox_routes(router& routes, const api_options& options, memory_ptr memory)
      : routes_{routes}, engine_{options.sandboxes}, memory_{
                                                       std::move(memory)} {}

  /// About all of them.
  void add(method verb, all_handler work, route_rules rules);
  /// About the one in the path: "/v1/sandboxes/{sandbox}" and `path`.
  void add(method verb, const std::string& path, one_handler work,
           route_rules rules,
           answer_holds holds = answer_holds::nothing_secret);

private:
  void add_route(method verb, std::string path, route_handler work,
                 route_rules rules,
                 answer_holds holds = answer_holds::nothing_secret);

  router& routes_;
  sandbox_engine* const engine_;
  const memory_ptr memory_;
};

/// For routes that read parameters of their own.
inline route_rules with_query(body_rule body = body_rule::none) {
  auto rules = needing(scope::run, body);
  rules.inspect = nullptr;
  return rules;
}

} // namespace troupe::net
