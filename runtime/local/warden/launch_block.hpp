#pragma once

#include "runtime/base/error.hpp"
#include "runtime/base/secret.hpp"
#include "runtime/base/unique_fd.hpp"

#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// Argument list and environment of a program as a sealed memfd. It goes from
/// the engine straight to the tool's own process: whoever passes it on sees a
/// descriptor and no secret.
result<unique_fd>
make_launch_block(const std::vector<std::string>& argv,
                  const std::vector<std::pair<std::string, secret>>& env);

/// The tool's side, between fork and exec: maps the block and becomes the
/// program. Returns errno when that fails; allocates nothing on the heap.
int execute_launch_block(int block) noexcept;

/// Argument list and environment together; the kernel allows 2 MiB by default.
inline constexpr std::size_t max_launch_block = 2u << 20;

} // namespace troupe
