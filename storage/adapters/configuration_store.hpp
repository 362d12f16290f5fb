#pragma once

#include "runtime/engine/configuration_store.hpp"
#include "storage/maintenance/store.hpp"

#include <memory>

namespace troupe {

/// The catalog of an open store, each change with its audit entry.
std::shared_ptr<configuration_store>
make_stored_configuration(std::shared_ptr<store> all);

} // namespace troupe
