#pragma once

#include "runtime/engine/journal.hpp"
#include "storage/maintenance/store.hpp"

#include <memory>

namespace troupe {

/// The record of runs, keys and events in RocksDB.
std::shared_ptr<journal> make_stored_journal(std::shared_ptr<store> all);

} // namespace troupe
