#pragma once

#include "tests/support/providers/fake_provider.hpp"

#include <map>
#include <string>
#include <vector>

/// What the published description of an AIO container (OpenAPI, 1.9.4) allows
/// in the calls that we make: kept apart from whoever sends or answers them.
namespace troupe::test {

/// "POST /v1/bash/exec", an id in it as "*".
std::string aio_call_of(const stand_request& r);

/// All that it describes of these, by such names, and how a body has to be: as
/// a JSON schema, "form", or "" for none.
const std::map<std::string, std::string>& aio_calls();

/// Where a request is not as described; none: it is.
std::vector<std::string> aio_problems(const stand_request& r);

} // namespace troupe::test
