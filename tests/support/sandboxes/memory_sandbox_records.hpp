#pragma once

#include "runtime/engine/sandbox_records.hpp"

#include <atomic>
#include <map>
#include <mutex>

namespace troupe::test {

/// Records of sandboxes that outlive an engine of the same test.
class memory_sandbox_records final : public sandbox_records {
public:
  std::atomic<bool> full{false};

  result<void> put(const stored_sandbox& what, bool) override {
    if (full)
      return fail(ec::no_space, "the disk of the test is full");
    std::lock_guard lock{mutex_};
    all_.insert_or_assign(what.record.id, what);
    return {};
  }
  result<void> erase(const organization_id&, const sandbox_id& id) override {
    std::lock_guard lock{mutex_};
    all_.erase(id);
    return {};
  }
  result<std::vector<stored_sandbox>> load(std::size_t& unreadable) override {
    std::lock_guard lock{mutex_};
    unreadable = 0;
    std::vector<stored_sandbox> found;
    for (const auto& [id, each] : all_)
      found.push_back(each);
    return found;
  }
  std::map<sandbox_id, stored_sandbox> all() {
    std::lock_guard lock{mutex_};
    return all_;
  }

private:
  std::mutex mutex_;
  std::map<sandbox_id, stored_sandbox> all_;
};

} // namespace troupe::test
