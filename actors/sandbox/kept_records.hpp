#pragma once

#include "runtime/model/sandbox.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

namespace troupe {

/// Which records of sandboxes that are over may stay: the newest ones, of one
/// organization and of all, or a client that makes and deletes them in a loop
/// would fill the engine's memory. For one thread.
class kept_records {
public:
  kept_records(std::size_t per_organization, std::size_t in_all)
      : per_organization_{per_organization}, in_all_{in_all} {}

  /// One more is over. The one that has to go for it, if any.
  std::optional<sandbox_id> add(const sandbox_id& id,
                                const organization_id& organization);
  /// Its record is gone.
  void forget(const sandbox_id& id);

private:
  struct place {
    organization_id organization;
    std::uint64_t number = 0;
  };

  const std::size_t per_organization_;
  const std::size_t in_all_;
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, sandbox_id> all_; // the oldest first
  std::unordered_map<organization_id, std::map<std::uint64_t, sandbox_id>> of_;
  std::unordered_map<sandbox_id, place> places_;
};

} // namespace troupe
