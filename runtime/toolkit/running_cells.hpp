#pragma once

#include "runtime/engine/sandbox_contexts.hpp"
#include "runtime/toolkit/toolkit_call.hpp"

#include <string>

namespace troupe::toolkit {

/// What a piece of code told from some place on, for a model.
outcome cell_outcome(const sandbox_cell& cell, output_offsets from,
                     std::size_t most, const std::string& context);

/// Answers with what a cell that was handed back has told by now; false when
/// the id is none of such a cell.
bool read_cell(const call_ptr& call, const std::string& id);

/// Asks one of those to stop; false as above.
bool interrupt_cell(const call_ptr& call, const std::string& id);

} // namespace troupe::toolkit
