#pragma once

#include "net/providers/aio/client.hpp"

#include <vector>

namespace troupe::net {

/// What an AIO sandbox does beside runs, with what asks for it.
std::vector<sandbox_self_test> aio_self_tests(sandbox_provider& whole,
                                              aio_client client);

} // namespace troupe::net
