#pragma once

#include "runtime/engine/backend.hpp"
#include "runtime/packages/cache.hpp"
#include "runtime/packages/options.hpp"
#include "runtime/packages/spec.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace troupe {

/// Waits for an environment. Called on any thread; `finished` exactly once.
struct environment_waiter {
  std::function<void(std::string_view)> progress;
  std::function<void(result<environment_lease_ptr>)> finished;
};

/// Builds environments, each at most once at a time however many want it: the
/// installer is a run like any other, isolated by the same backend.
class environment_builder
    : public std::enable_shared_from_this<environment_builder> {
public:
  using key = std::pair<organization_id, std::string>; // with the fingerprint

  environment_builder(std::shared_ptr<backend> carrier,
                      environment_options options);
  ~environment_builder();

  result<void> open();

  /// Answers at once when the environment is there.
  void acquire(environment_spec spec, environment_waiter waiter);
  /// Builds it even then. Runs that use the old one keep it until they end, and
  /// new ones get it until the new one is finished.
  void renew(environment_spec spec, environment_waiter waiter);
  /// Forgets a finished environment, so that the next `acquire` builds it
  /// anew. A conflict while runs use it.
  result<void> forget(const organization_id& organization,
                      const std::string& fingerprint);
  /// The same on the builder's own thread: it takes a directory apart.
  void forget(const organization_id& organization,
              const std::string& fingerprint,
              std::function<void(result<void>)> done);
  std::vector<environment_info> list(const organization_id& organization) const;

  /// Waits for a build that is under way; false, without a callback, when
  /// there is none.
  bool join(const key& k, environment_waiter waiter);
  /// Fingerprints of what is being built, each with its installer's last line.
  std::vector<std::pair<std::string, std::string>>
  under_way(const organization_id& organization) const;

  const environment_options& options() const { return options_; }

  /// Fails all that wait and ends the worker.
  void stop();

private:
  struct build {
    environment_spec spec;
    bool afresh = false;
    bool begun = false;
    std::string last_line; // of the installer
    std::filesystem::path staged;
    run_id installer;       // empty until it is started
    std::string over_bound; // why it was stopped
    std::vector<environment_waiter> waiters;
  };
  class installer_observer;

  void join_or_begin(const key& k, environment_spec spec, bool afresh,
                     environment_waiter waiter);
  void begin_next();
  void begin(const key& k);
  bool reserve_build(const key& k, build& copy);
  // -- disk_watch.cpp
  void watch_soon();
  void watch();
  std::string over_bound(const std::filesystem::path& staged) const;

  void tell(const key& k, std::string_view line);
  void installed(const key& k, run_outcome outcome, std::string last_lines);
  result<environment_lease_ptr> settle(const key& k, const build& b,
                                       const run_outcome& outcome,
                                       const std::string& last_lines);
  void answer(const key& k, const result<environment_lease_ptr>& what);

  std::shared_ptr<backend> carrier_;
  environment_options options_;
  environment_cache cache_;
  mutable std::mutex mutex_;
  std::map<key, build> builds_;
  std::deque<key> queue_; // of builds that have not begun
  std::size_t under_way_ = 0;
  std::size_t waiting_ = 0;
  bool watching_ = false;
  bool stopped_ = false;
  std::shared_ptr<boost::asio::thread_pool> worker_; // renames, removals, walks
  boost::asio::steady_timer watch_timer_;
};

} // namespace troupe
