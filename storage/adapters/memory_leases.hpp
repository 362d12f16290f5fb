#pragma once

#include "runtime/engine/sandbox_lease.hpp"

#include <map>
#include <mutex>

namespace troupe {

/// Forgets everything with the process: for tests and single commands.
class memory_lease_book final : public lease_book {
public:
  result<void> write(const sandbox_lease& lease) override {
    std::lock_guard guard{mutex_};
    leases_[lease.tag] = lease;
    return {};
  }
  result<void> confirm(const std::string& tag,
                       const std::string& sandbox) override {
    std::lock_guard guard{mutex_};
    if (auto i = leases_.find(tag); i != leases_.end())
      i->second.sandbox = sandbox;
    return {};
  }
  result<void> release(const std::string& tag) override {
    std::lock_guard guard{mutex_};
    leases_.erase(tag);
    return {};
  }
  std::vector<sandbox_lease> list(backend_name provider) const override {
    std::lock_guard guard{mutex_};
    std::vector<sandbox_lease> out;
    for (const auto& [tag, lease] : leases_)
      if (lease.provider == provider)
        out.push_back(lease);
    return out;
  }

private:
  mutable std::mutex mutex_;
  std::map<std::string, sandbox_lease> leases_;
};

} // namespace troupe
