#pragma once

#include "runtime/base/error.hpp"
#include "runtime/model/ids.hpp"
#include "runtime/model/sandbox_config.hpp"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace troupe {

/// A sandbox at a provider that we answer for. Written before it is created
/// (its name there unknown as yet), so that no crash leaves one running that
/// has no record; the tag finds it again.
struct sandbox_lease {
  std::string tag; // ours, random, attached to the sandbox as a label
  backend_kind provider = backend_kind::e2b;
  organization_id organization;
  run_id run;
  std::string sandbox; // the provider's id, "" until confirmed
  std::string key{};   // of the runs that may share it; "": that one only
  timestamp written_at{};
};

/// Where leases are kept. Durable in the engine, in memory in tests.
/// Thread-safe.
class lease_book {
public:
  virtual ~lease_book() = default;
  virtual result<void> write(const sandbox_lease& lease) = 0;
  virtual result<void> confirm(const std::string& tag,
                               const std::string& sandbox)
    = 0;
  virtual result<void> release(const std::string& tag) = 0;
  virtual std::vector<sandbox_lease> list(backend_kind provider) const = 0;
};

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
  std::vector<sandbox_lease> list(backend_kind provider) const override {
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
