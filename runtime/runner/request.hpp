#pragma once

#include "runtime/engine/backend.hpp"
#include "runtime/runner/frame.hpp"

#include <cstddef>

namespace troupe::script {

/// Where a request is carried out: in a sandbox of ours, whose environment we
/// define, or on a machine that has one already.
enum class place { here, elsewhere };

/// The request frame of a run; what is in it is told in
/// docs/decisions/runner-frames.md.
result<frame::message> make_request(const prepared_run& run,
                                    place where = place::here);

/// Bytes of files and displays in an answer.
std::size_t max_blob_bytes(const prepared_run& run);

/// How long the whole answer frame of a run may be.
std::size_t max_answer_bytes(const prepared_run& run);

} // namespace troupe::script
