#pragma once

#include "runtime/engine/sandbox_records.hpp"

#include <boost/asio/thread_pool.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace troupe {

/// Writes what changes about sandboxes, on a thread of its own. Of one that
/// changes faster than the disk is, the last state is written: at most one
/// change waits per sandbox. Thread-safe; no call waits.
class sandbox_register {
public:
  using written = std::function<void(result<void>)>;

  /// Null: nothing is kept.
  explicit sandbox_register(std::shared_ptr<sandbox_records> store)
      : store_{std::move(store)} {}
  ~sandbox_register() { disk_.join(); }

  /// With `then` it outlives power loss before that is called, on any thread.
  void put(stored_sandbox what, written then = {});
  void erase(const organization_id& organization, const sandbox_id& id);
  /// All that was put before is written when this returns.
  void flush();

private:
  struct change {
    organization_id organization;
    std::optional<stored_sandbox> what; // nothing: it goes
    std::vector<written> then;
  };

  void enter(const sandbox_id& id, change next);
  void write(const sandbox_id& id);

  const std::shared_ptr<sandbox_records> store_;
  std::mutex mutex_;
  std::map<sandbox_id, change> waiting_;
  boost::asio::thread_pool disk_{1};
};

} // namespace troupe
