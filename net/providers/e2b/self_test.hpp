#pragma once

#include "net/providers/e2b/exec.hpp"

#include <vector>

namespace troupe::net {

/// What E2B does beside runs, with what asks for it.
std::vector<rehearsal> e2b_rehearsals(provider& whole, e2b_client client,
                                      std::shared_ptr<e2b_inside> inside);

} // namespace troupe::net
