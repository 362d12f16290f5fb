#pragma once

#include "runtime/engine/backend.hpp"
#include "runtime/sandboxes/lease_manager.hpp"

#include <chrono>
#include <memory>

namespace troupe {

/// Bounds of one provider; what it allows differs by plan.
struct provider_limits {
  std::size_t max_running = 20;
  std::chrono::milliseconds create_spacing{200}; // 5 creations a second
  std::chrono::seconds create_timeout{60};
  std::chrono::seconds install_timeout{300};
  /// A question whether it is still there, before a run goes into one that
  /// waited.
  std::chrono::seconds reconnect_timeout{10};
  lease_options leases;
  std::chrono::milliseconds stop_waits{5'000};
  /// So many are made before a run asks for one, of the kinds that were asked
  /// for last. They cost what others cost, so nothing unless it is wanted.
  std::size_t prewarmed = 0;
  /// A sandbox outlives its run's limit by so much, should we be gone.
  std::chrono::seconds spare_lifetime{60};
  /// And lives at least so long, unless its config says otherwise.
  std::chrono::seconds lifetime{300};
  /// Between two looks for what was left behind; 0: only when asked.
  std::chrono::seconds reconcile_every{0};
};

/// A backend over any provider: lease, create, install, run, answer, destroy.
/// One sandbox per run unless its config asks to `reuse` it; destroyed on every
/// path, while the answer is on its way already. Where that fails the lease
/// stays and `reconcile` ends it later.
class provider_backend final : public backend {
public:
  provider_backend(std::shared_ptr<sandbox_provider> where,
                   std::shared_ptr<lease_book> leases,
                   boost::asio::any_io_executor executor,
                   provider_limits options);
  ~provider_backend() override;

  backend_kind kind() const override;
  backend_name name() const override;
  void start(prepared_run_ptr run, run_observer_ptr observer) override;
  void cancel(const run_id& id, exit_reason reason) override;
  result<void> ready() const override;
  void stop() override;

  /// Waits until no run is out and no sandbox is being made or ended: answers
  /// do not wait for that. False when the limit came first.
  bool rest(std::chrono::milliseconds limit);

  /// Ends sandboxes that our leases name and no run uses. With `dry_run` only
  /// tells them.
  using reconciled = std::function<void(result<std::vector<tagged_sandbox>>)>;
  void reconcile(bool dry_run, reconciled done);

private:
  class impl;
  std::shared_ptr<impl> impl_;
};

} // namespace troupe
