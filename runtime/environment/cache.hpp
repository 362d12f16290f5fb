#pragma once

#include "runtime/error.hpp"
#include "runtime/model/ids.hpp"
#include "runtime/model/sandbox_config.hpp"

#include <cstdint>
#include <filesystem>
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

/// Keeps an environment from being evicted while a run uses it.
struct environment_lease {
  std::filesystem::path directory;
  std::string fingerprint;
};
using environment_lease_ptr = std::shared_ptr<const environment_lease>;

/// The directories on disk: `<root>/<organization>/<fingerprint>`, with a
/// manifest beside each (never inside, where package code could have written).
/// A directory without a manifest is an unfinished build and is swept away.
/// Thread-safe; everything but `lease` may touch the disk for long.
class environment_cache {
public:
  environment_cache(std::filesystem::path root, std::uint64_t max_bytes);

  /// Reads what is there, removes what is unfinished.
  result<void> open();

  /// The finished environment, or nothing.
  environment_lease_ptr lease(const organization_id& organization,
                              const std::string& fingerprint);

  /// A fresh directory to build in, on the same file system.
  result<std::filesystem::path> stage(const organization_id& organization,
                                      const std::string& fingerprint);
  /// Moves a staged directory into place at once and notes it down.
  result<environment_lease_ptr> commit(const std::filesystem::path& staged,
                                       environment_info info);
  void discard(const std::filesystem::path& staged);

  /// False if it is in use or unknown.
  bool remove(const organization_id& organization,
              const std::string& fingerprint);
  std::vector<environment_info> list(const organization_id& organization) const;
  std::uint64_t bytes() const;

private:
  struct entry {
    environment_info info;
    std::weak_ptr<const environment_lease> in_use;
  };
  using key = std::pair<organization_id, std::string>;

  std::filesystem::path directory(const key& k) const;
  std::filesystem::path manifest(const key& k) const;
  result<void> write_manifest(const environment_info& info) const;
  std::optional<environment_info>
  read_manifest(const std::filesystem::path& file) const;
  void sweep(const std::filesystem::path& organization_dir);
  void evict_beyond_bound(const key& keep);
  bool remove_entry(const key& k);

  std::filesystem::path root_;
  std::uint64_t max_bytes_;
  mutable std::mutex mutex_;
  std::map<key, entry> entries_;
};

/// Bytes below `directory`, links not followed.
std::uint64_t tree_bytes(const std::filesystem::path& directory);

} // namespace troupe
