#pragma once

#include "runtime/base/error.hpp"
#include "runtime/base/secret.hpp"
#include "runtime/engine/sandbox.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace troupe::script {

/// What carries a run to its end inside a sandbox, without anything of ours
/// there. `key` marks its answer.
result<sandbox_script> build_remote_parts(const prepared_run& run,
                                          std::string_view key);

} // namespace troupe::script
