#pragma once

#include "net/api/shared/api_options.hpp"
#include "net/server/router.hpp"

#include <string_view>

namespace troupe {
class engine;
} // namespace troupe

namespace troupe::net {

/// Everything under /v1 and /ui, /openapi.json and /docs. `core` and what the
/// options point to outlive the server.
void add_api(router& routes, engine& core, api_options options = {});

/// What /openapi.json answers.
std::string_view openapi_document();

} // namespace troupe::net
