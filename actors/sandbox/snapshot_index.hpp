#pragma once

#include "runtime/engine/sandbox_error.hpp"
#include "runtime/model/sandbox.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// The snapshots that there are. Thread-safe.
class snapshot_index {
public:
  struct entry {
    snapshot_record_ptr record;
    std::size_t place = 0;  // of the options
    std::string at_place;   // its name there
    limits resources;       // of the sandbox that it is of
    bool temporary = false; // for one fork: not listed
  };

  /// Why there cannot be one of that name; nothing: there can.
  std::optional<sandbox_error> refuse(const organization_id& organization,
                                      const std::string& name,
                                      std::size_t most) const;
  void put(entry e);
  /// By its id or its name; of the organization only.
  std::optional<entry> find(const organization_id& organization,
                            const std::string& which) const;
  std::optional<entry> take(const organization_id& organization,
                            const std::string& which);
  std::vector<snapshot_record_ptr>
  list(const organization_id& organization) const;

private:
  using map = std::map<sandbox_id, entry>;
  map::const_iterator locate(const organization_id& organization,
                             const std::string& which) const;

  mutable std::mutex mutex_;
  map entries_;
};

sandbox_error no_such_snapshot(const std::string& which);

} // namespace troupe
