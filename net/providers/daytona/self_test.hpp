#pragma once

#include "net/providers/daytona/client.hpp"

#include <vector>

namespace troupe::net {

/// What Daytona does beside runs, with what asks for it.
std::vector<sandbox_self_test> daytona_self_tests(sandbox_provider& whole,
                                                  daytona_client client);

} // namespace troupe::net
