#pragma once

#include "runtime/model/sandbox_context.hpp"

#include <string>
#include <vector>

namespace troupe::kernels {

/// How the interpreter of a language is executed: it reads its program from
/// standard input and has its channel at descriptor 3.
struct program {
  std::vector<std::string> argv;
  std::string text;
};

/// Fails for a language that this build cannot prepare.
result<program> program_for(context_language language);

} // namespace troupe::kernels
