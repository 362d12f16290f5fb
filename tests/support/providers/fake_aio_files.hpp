#pragma once

#include "tests/support/providers/fake_provider.hpp"

#include <functional>
#include <string>

namespace troupe::test {

/// An AIO container's /v1/file, and its code under /v1/jupyter, /v1/nodejs and
/// /v1/code. `translated` says where the container's /tmp really is. Not
/// answered: it is none of these.
void play_aio_files(const stand_request& r, stand_reply& reply,
                    const std::function<std::string(std::string)>& translated);
void play_aio_code(const stand_request& r, stand_reply& reply);

} // namespace troupe::test
