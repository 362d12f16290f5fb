#pragma once

#include "runtime/engine/sandbox_lease.hpp"
#include "storage/maintenance/store.hpp"

#include <memory>

namespace troupe {

/// The leases of an open store.
std::shared_ptr<lease_book> make_stored_leases(std::shared_ptr<store> all);

} // namespace troupe
