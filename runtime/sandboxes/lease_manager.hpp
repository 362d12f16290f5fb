#pragma once

#include "runtime/engine/sandbox.hpp"
#include "runtime/engine/sandbox_lease.hpp"

#include <boost/asio/thread_pool.hpp>

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace troupe {

struct lease_options {
  std::chrono::seconds destroy_timeout{30};
  /// A creation whose answer was lost may show up in a provider's list only
  /// after a while: so long its lease is not given up.
  std::chrono::seconds forget_after{600};
};

/// Answers for every sandbox of one provider: a lease is written before it is
/// created, and stays until it is gone for certain. On the client's executor;
/// the book, which waits for a disk, is used on a thread beside it.
class lease_manager : public std::enable_shared_from_this<lease_manager> {
public:
  lease_manager(std::shared_ptr<sandbox_provider> where,
                std::shared_ptr<lease_book> leases,
                boost::asio::any_io_executor executor, lease_options options);

  /// Written down; from here on the tag is in use.
  boost::asio::awaitable<result<void>> write(sandbox_lease lease);
  boost::asio::awaitable<void> confirm(std::string tag, std::string sandbox);
  /// Nothing was created: the lease goes.
  boost::asio::awaitable<void> release(std::string tag);
  /// Something may have been created: `reconcile` will see.
  void leave(const std::string& tag) { tags_in_use_.erase(tag); }

  /// Ends a sandbox and then its lease. Where that fails the lease stays.
  boost::asio::awaitable<bool> destroy(sandbox_handle box, std::string tag,
                                       std::string traceparent);

  /// Ends what our leases name and no run uses; tells what that was. With
  /// `dry_run` only tells. Sandboxes that no lease of ours names belong to
  /// another engine and are left alone.
  boost::asio::awaitable<result<std::vector<tagged_sandbox>>>
  reconcile(bool dry_run, std::shared_ptr<cancellation> abort = nullptr);

private:
  boost::asio::awaitable<bool>
  settle(sandbox_lease lease, std::vector<tagged_sandbox> alive, bool dry_run,
         const std::string& traceparent, std::vector<tagged_sandbox>& orphans);

  std::shared_ptr<sandbox_provider> where_;
  std::shared_ptr<lease_book> leases_;
  boost::asio::any_io_executor executor_;
  lease_options options_;
  std::set<std::string> tags_in_use_;
  boost::asio::thread_pool books_{1};
};

} // namespace troupe
