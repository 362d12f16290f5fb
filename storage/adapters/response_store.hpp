#pragma once

#include "runtime/engine/response_store.hpp"
#include "storage/maintenance/store.hpp"

#include <memory>

namespace troupe {

/// The archive in the store, with a thread of its own for the disk.
std::shared_ptr<response_store>
make_stored_responses(std::shared_ptr<store> kept);

} // namespace troupe
