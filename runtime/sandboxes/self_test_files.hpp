#pragma once

#include "runtime/engine/sandbox_files.hpp"

namespace troupe {

/// Files in and out of a sandbox: written, listed, read back and compared,
/// moved, removed. The files have to be there until it is through.
sandbox_self_test files_self_test(sandbox_files& files);

} // namespace troupe
