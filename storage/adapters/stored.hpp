#pragma once

#include "runtime/engine/stores.hpp"
#include "storage/maintenance/store.hpp"

#include <memory>

namespace troupe {

/// The engine's books in RocksDB.
std::shared_ptr<configuration_store>
make_stored_configuration(std::shared_ptr<store> all);
std::shared_ptr<journal> make_stored_journal(std::shared_ptr<store> all);

} // namespace troupe
