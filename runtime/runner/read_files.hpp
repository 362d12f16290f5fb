#pragma once

#include "runtime/engine/backend.hpp"
#include "runtime/json/json.hpp"
#include "runtime/model/run.hpp"

#include <string_view>

namespace troupe::script {

/// Takes the files and displays of an answer: `head` tells their names and
/// sizes, `blob` holds their bytes in that order. All of it is the tool's word:
/// what does not add up, or was not asked for, is an error.
result<void> take_files(const prepared_run& run, const json::object& head,
                        std::string_view blob, run_result& seen);

} // namespace troupe::script
