#pragma once

#include "actors/context/engine_context.hpp"
#include "actors/state/expiring_map.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe {

/// What the credential actor works with.
struct credential_services {
  credential_services() = default;
  credential_services(const context_ptr& engine);

  credential_rules rules;
  std::shared_ptr<credential_source> webhook; // null: none
  std::shared_ptr<configuration_store> store; // only read
  std::shared_ptr<engine_metrics> metrics;
};

/// Finds the variables of runs for dispatchers: unseals stored values
/// (storage/sealing, behind the configuration store) and asks the credentials
/// webhook. The only actor that sees values in clear; it caches them briefly.
struct credential_state : credential_services {
  static constexpr auto name = "credential";
  using clock = std::chrono::steady_clock;
  using env_ptr = std::shared_ptr<const environment>;

  credential_actor::pointer self = nullptr;
  /// One run that waits for the webhook, with what was found already; or one
  /// that is only explained.
  struct waiter {
    dispatcher_actor home;
    gathered found;
    caf::typed_response_promise<gathered> explained;
  };
  /// One request to the webhook; all runs with the same query share it.
  struct pending_webhook_call {
    credential_query query;
    std::vector<waiter> waiting;
  };
  /// Unsealed values, good for one picture of the organization.
  struct unsealed {
    std::shared_ptr<const organization_catalog> of;
    env_ptr values;
  };
  std::optional<expiring_map<std::string, unsealed>> known;
  std::optional<expiring_map<credential_query, env_ptr>> answers;
  std::map<credential_query, std::uint64_t> asking;
  std::unordered_map<std::uint64_t, pending_webhook_call> calls;
  std::uint64_t last_call = 0;
  bool sweeping = false;

  void gather(const gather_request& what);
  caf::result<gathered> explain(const gather_request& what);
  void answered(std::uint64_t call, result<environment> answer);
  void sweep();
  void stop();

private:
  result<void> unseal_stored(const gather_request& what,
                             resolved_variables& found);
  credential_query query_for(const gather_request& what) const;
  void ask(const credential_query& query, waiter who);
  result<env_ptr> checked(result<environment> answer,
                          std::vector<std::string>& notes);
  void reply(waiter& who);
  void sweep_later();
};

credential_actor::behavior_type
credential(credential_actor::stateful_pointer<credential_state> self,
           credential_services services);

} // namespace troupe
