#pragma once

#include "runtime/engine/maintenance.hpp"
#include "storage/maintenance/store.hpp"

#include <memory>

namespace troupe {

/// Upkeep of an open store, on a thread of its own: it reads and writes disks
/// for as long as it takes. The end of it waits for what is under way.
std::unique_ptr<maintenance>
make_stored_maintenance(std::shared_ptr<store> kept, store_options opened_with);

} // namespace troupe
