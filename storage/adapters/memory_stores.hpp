#pragma once

#include "runtime/engine/configuration_store.hpp"
#include "runtime/engine/journal.hpp"

#include <memory>

namespace troupe {

/// For engines without a data directory: no configuration, and the last runs
/// for as long as the process lives.
std::shared_ptr<configuration_store> make_memory_configuration();
std::shared_ptr<journal> make_memory_journal();

} // namespace troupe
