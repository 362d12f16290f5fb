#pragma once

#include "runtime/base/error.hpp"
#include "runtime/packages/options.hpp"
#include "runtime/packages/spec.hpp"

namespace troupe {

/// What an installer may connect to: what runs of this engine may, and beside
/// it the index and the registry that the operator named, be they in the house.
/// Looks their names up, so it may take a while. An error where the engine's
/// policy leaves nothing to install from.
result<network_policy> install_network(const environment_spec& spec,
                                       const environment_options& options);

} // namespace troupe
