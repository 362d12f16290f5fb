#pragma once

#include "runtime/model/run.hpp"

#include <string_view>

namespace troupe {

/// Takes over what a run has printed, as text. Where bytes are lost by that, a
/// note says so; a character that the limit has cut in two is none.
void set_output(run_result& r, std::string_view out, std::string_view err);

} // namespace troupe
