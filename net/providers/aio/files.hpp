#pragma once

#include "net/providers/aio/client.hpp"
#include "runtime/engine/sandbox_files.hpp"

#include <memory>

namespace troupe::net {

/// In the one container that all runs share. What its file API lacks is done
/// by commands.
std::unique_ptr<sandbox_files> make_aio_files(aio_client client);

} // namespace troupe::net
