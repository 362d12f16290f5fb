#pragma once

#include "net/providers/daytona/client.hpp"
#include "net/providers/sandbox_files.hpp"

#include <memory>

namespace troupe::net {

/// By the toolbox in each sandbox of Daytona.
std::unique_ptr<remote_files> make_daytona_files(daytona_client client);

} // namespace troupe::net
