#pragma once

#include "actors/stores.hpp"
#include "storage/store.hpp"

#include <memory>

namespace troupe {

// The actors' wishes, granted by RocksDB: two siblings meet here.

std::shared_ptr<configuration_store>
make_stored_configuration(std::shared_ptr<store> kept);
std::shared_ptr<journal> make_stored_journal(std::shared_ptr<store> kept);

} // namespace troupe
