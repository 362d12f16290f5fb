#pragma once

#include "runtime/engine/sandbox_records.hpp"
#include "storage/database/database.hpp"
#include "storage/sealing/sealer.hpp"

#include <memory>
#include <mutex>

namespace troupe {

/// Records of living sandboxes, each sealed as a whole.
class sandbox_record_store final : public sandbox_records {
public:
  sandbox_record_store(std::shared_ptr<database> db,
                       std::shared_ptr<sealer> seals)
      : db_{std::move(db)}, seals_{std::move(seals)} {}

  result<void> put(const stored_sandbox& what, bool synced) override;
  result<void> erase(const organization_id& organization,
                     const sandbox_id& id) override;
  result<std::vector<stored_sandbox>> load(std::size_t& unreadable) override;
  /// With the organization's newest key.
  result<void> reseal(const organization_id& organization);

private:
  std::shared_ptr<database> db_;
  std::shared_ptr<sealer> seals_;
  std::mutex mutex_; // of writers
};

/// As it is sealed.
std::string encode_sandbox(const stored_sandbox& what);
result<stored_sandbox> decode_sandbox(std::string_view text);

} // namespace troupe
