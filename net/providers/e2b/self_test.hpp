#pragma once

#include "net/providers/e2b/exec.hpp"

#include <vector>

namespace troupe::net {

/// What E2B does beside runs, with what asks for it.
std::vector<sandbox_self_test> e2b_self_tests(sandbox_provider& whole,
                                              e2b_client client,
                                              std::shared_ptr<e2b_exec> inside);

} // namespace troupe::net
