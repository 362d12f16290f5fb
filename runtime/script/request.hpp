#pragma once

#include "runtime/backend.hpp"
#include "runtime/frame/frame.hpp"

#include <cstddef>

namespace troupe::script {

/// The request frame of a run; what is in it is told in
/// docs/decisions/runner-frames.md.
result<frame::message> make_request(const prepared_run& run);

/// How long the whole answer frame of a run may be.
std::size_t max_answer_bytes(const prepared_run& run);

} // namespace troupe::script
