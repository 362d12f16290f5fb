#pragma once

#include "net/providers/daytona/client.hpp"

#include <vector>

namespace troupe::net {

/// What Daytona does beside runs, with what asks for it.
std::vector<rehearsal> daytona_rehearsals(provider& whole,
                                          daytona_client client);

} // namespace troupe::net
