#pragma once

#include "net/api/shared/preconditions.hpp"
#include "net/compat/e2b/known_sandboxes.hpp"
#include "net/compat/e2b/wire/answers.hpp"
#include "net/compat/e2b/wire/tokens.hpp"
#include "net/server/exchange.hpp"
#include "net/server/router.hpp"
#include "runtime/engine/sandbox_engine.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::net::e2b_facade {

/// What the clients of E2B think that they talk to, up to which they dare:
/// octet streams as uploads, but neither metadata of files nor watches of
/// network mounts.
inline constexpr std::string_view envd_version = "0.5.7";

/// What all routes share. Outlives the servers.
class facade {
public:
  facade(engine& core, sandbox_engine* sandboxes)
      : core_{core}, sandboxes_{sandboxes} {}

  engine& core() { return core_; }
  /// Null, and answered, where there are none.
  sandbox_engine* sandboxes(exchange& ex);
  sandbox_engine* sandboxes() { return sandboxes_; }
  /// Where clients find it, the best address first: told once all are served.
  void serves(std::vector<std::string> urls);
  std::vector<std::string> urls() const;
  token_maker& tokens() { return tokens_; }
  known_sandboxes& known() { return known_; }

private:
  engine& core_;
  sandbox_engine* const sandboxes_;
  token_maker tokens_;
  known_sandboxes known_;
  mutable std::mutex mutex_; // guards what follows
  std::vector<std::string> urls_;
};
using facade_ptr = std::shared_ptr<facade>;

// -- calls about sandboxes ----------------------------------------------------

using control_work = std::function<void(facade&, const exchange_ptr&)>;
using one_sandbox_work
  = std::function<void(facade&, const sandbox_id&, const exchange_ptr&)>;

/// Adds routes below "/compat/e2b/api", with the caller's key.
class control_routes {
public:
  control_routes(router& routes, facade_ptr shared)
      : routes_{routes}, shared_{std::move(shared)} {}

  void add(method verb, std::string_view path, control_work work);
  /// About the sandbox that the first parameter of the path names.
  void add_one(method verb, std::string_view path, one_sandbox_work work);
  /// Needs no key.
  void add_open(method verb, std::string_view path, control_work work);

private:
  void add(method verb, std::string_view path, control_work work,
           const route_rules& rules);

  router& routes_;
  const facade_ptr shared_;
};

/// A handler that answers a failure in the way of the control plane.
template <class T, class Then>
sandbox_handler<T> or_refuse(exchange_ptr ex, Then then) {
  return [ex = std::move(ex), then = std::move(then)](sandbox_result<T> came) {
    if (!came)
      return fail_control(*ex, came.error());
    if constexpr (std::is_void_v<T>)
      then(*ex);
    else
      then(*ex, std::move(*came));
  };
}

/// The body as an object; an absent one is empty. Answers 400 for others.
std::optional<json::object> control_body(exchange& ex);

// -- calls into a sandbox -----------------------------------------------------

/// What lets a caller into a sandbox.
enum class proof : std::uint8_t {
  none,               // its id, which cannot be guessed
  token,              // its access token
  token_or_signature, // or the signature of the file that is asked for
};

/// A call that was let into a sandbox, which runs.
struct visit {
  sandbox_id id;
  caller who;
  known_sandbox known;
  sandbox_record_ptr record;
};
using visit_work
  = std::function<void(facade&, const exchange_ptr&, const visit&)>;

/// Adds routes below "/compat/e2b/data/{sandbox}".
class data_routes {
public:
  data_routes(router& routes, facade_ptr shared)
      : routes_{routes}, shared_{std::move(shared)} {}

  void add(method verb, std::string_view path, proof wanted, visit_work work,
           std::size_t body_limit);
  void add_port(method verb, visit_work work);

private:
  void add(method verb, std::string_view path, proof wanted, visit_work work,
           const route_rules& rules);

  router& routes_;
  const facade_ptr shared_;
};

// -- the parts ----------------------------------------------------------------

void add_control(control_routes& to); // create, get, list
void add_life(control_routes& to);    // timeouts, pause, connect, kill
void add_usage(control_routes& to, data_routes& into);
void add_snapshots(control_routes& to);
void add_refusals(control_routes& to); // what is not served, by name
void add_differences(control_routes& to);
void add_processes(data_routes& into);
void add_filesystem(data_routes& into);
void add_watches(data_routes& into);
void add_transfers(data_routes& into); // /files
void add_envd(data_routes& into);      // health and variables
void add_interpreter(data_routes& into);
void add_user_ports(data_routes& into);

} // namespace troupe::net::e2b_facade
