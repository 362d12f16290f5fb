#pragma once

#include "net/providers/daytona/client.hpp"
#include "runtime/engine/sandbox_files.hpp"

#include <memory>

namespace troupe::net {

/// By the toolbox in each sandbox of Daytona.
std::unique_ptr<sandbox_files> make_daytona_files(daytona_client client);

} // namespace troupe::net
