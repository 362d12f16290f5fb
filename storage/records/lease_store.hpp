#pragma once

#include "runtime/engine/sandbox_lease.hpp"
#include "storage/database/database.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace troupe {

/// The leases on providers' sandboxes, so that one which outlived us is found
/// again at the next start. Thread-safe; a write waits for the disk.
class lease_store {
public:
  static result<std::unique_ptr<lease_store>>
  open(std::shared_ptr<database> db);

  /// Outlives power loss: the sandbox is created only after that.
  result<void> write(const sandbox_lease& lease);
  /// This and `release` outlive our end, not power loss. What is then known
  /// too little or too much, a look at the provider's list puts right.
  result<void> confirm(const std::string& tag, const std::string& sandbox);
  result<void> release(const std::string& tag);
  std::vector<sandbox_lease> list(backend_name provider) const;

private:
  explicit lease_store(std::shared_ptr<database> db) : db_{std::move(db)} {}
  result<void> read_all();
  /// Makes the store write again after trouble, and what is here true.
  result<void> recover();
  result<void> put(const sandbox_lease& lease, durability how);

  std::shared_ptr<database> db_;
  mutable std::mutex mutex_;
  std::map<std::string, sandbox_lease> leases_; // by tag; a few thousand
  std::uint64_t generation_ = 0;
};

} // namespace troupe
