#pragma once

#include "net/providers/e2b/client.hpp"
#include "runtime/engine/sandbox_files.hpp"

#include <memory>

namespace troupe::net {

/// By the envd in each sandbox of E2B.
std::unique_ptr<sandbox_files> make_e2b_files(e2b_client client);

} // namespace troupe::net
