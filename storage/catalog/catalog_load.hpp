#pragma once

#include "storage/catalog/catalog_store.hpp"

namespace troupe {

/// Reads the whole catalog. Refuses records that do not read, two things of one
/// name, and variables whose config is gone: no change leaves such a thing.
result<std::shared_ptr<catalog>> load_catalog(const database& db,
                                              const catalog_tables& tables);

} // namespace troupe
