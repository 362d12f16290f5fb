#pragma once

#include "runtime/base/error.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/model/ids.hpp"
#include "runtime/model/sandbox_config.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// One finished environment.
struct environment_info {
  organization_id organization;
  std::string fingerprint;
  std::uint64_t bytes = 0;
  timestamp built_at{};
  timestamp used_at{};
  /// What the installer put in: "numpy==1.26.4 sha256:..." (its own word).
  std::vector<std::string> packages;
};

/// Keeps an environment on disk while a run uses it.
struct environment_lease {
  std::filesystem::path directory;
  std::string fingerprint;
};
using environment_lease_ptr = std::shared_ptr<const environment_lease>;

/// The directories on disk: `<root>/<organization>/<fingerprint>-<uuid>`, one
/// for every build, so that a new build never stands where runs still use the
/// old one. A manifest beside them (never inside, where package code could have
/// written) says which of them is the environment; what no manifest names is
/// swept away. Thread-safe, but one thread only changes what is on disk; all
/// but `lease`, `list` and `bytes` may take long.
class environment_cache {
public:
  environment_cache(std::filesystem::path root, std::uint64_t max_bytes);

  /// Reads what is there, removes what is unfinished, and keeps other engines
  /// out until the end: they would sweep away what we build.
  result<void> open();
  /// Called by the end of a lease if `collect` would find something.
  void on_garbage(std::function<void()> found);

  /// The finished environment, or nothing.
  environment_lease_ptr lease(const organization_id& organization,
                              const std::string& fingerprint);

  /// A fresh directory to build in, on the same file system.
  result<std::filesystem::path> stage(const organization_id& organization,
                                      const std::string& fingerprint);
  /// Moves a staged directory into place and makes it the environment at once.
  /// Runs that use an older build of it keep that until they end.
  result<environment_lease_ptr> commit(const std::filesystem::path& staged,
                                       environment_info info);
  void discard(const std::filesystem::path& staged);

  /// False if it is in use or unknown.
  bool remove(const organization_id& organization,
              const std::string& fingerprint);
  /// Removes replaced builds that are not in use.
  void collect();
  /// Writes down what was used when, for the next start.
  void save_uses();

  std::vector<environment_info> list(const organization_id& organization) const;
  std::uint64_t bytes() const;
  const std::filesystem::path& root() const { return root_; }

private:
  using lease_watch = std::weak_ptr<const environment_lease>;
  struct entry {
    environment_info info;
    std::filesystem::path directory;
    lease_watch in_use;
  };
  struct replaced {
    lease_watch in_use;
    std::filesystem::path directory;
  };
  /// Leases may outlive the cache.
  struct garbage_notifier {
    std::mutex mutex;
    std::function<void()> found;
    bool armed = false; // something waits for the end of a lease
  };
  using key = std::pair<organization_id, std::string>;

  std::filesystem::path manifest(const key& k) const;
  result<void> write_manifest(const entry& e) const;
  std::optional<entry> read_manifest(const std::filesystem::path& file) const;
  void sweep(const std::filesystem::path& organization_dir);
  std::vector<std::filesystem::path> evict_over_limit(const key& keep);
  std::filesystem::path take_unused(const key& k);
  environment_lease_ptr lease_of(entry& e);
  void arm_bell(bool armed);

  std::filesystem::path root_;
  std::uint64_t max_bytes_;
  unique_fd lock_;
  std::shared_ptr<garbage_notifier> wake_fd_
    = std::make_shared<garbage_notifier>();
  mutable std::mutex mutex_;
  std::map<key, entry> entries_;
  std::vector<replaced> replaced_;
};

} // namespace troupe
