#pragma once

#include "actors/protocol/link_options.hpp"
#include "runtime/base/error.hpp"
#include "runtime/model/codec/outcome_text.hpp"
#include "runtime/model/run.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace troupe {

// Largest texts that fit into a link's frames, with room for what stands around
// them. For a longer one an error is sent instead: the link would be cut.
inline constexpr std::size_t largest_request_text
  = largest_request_frame - (64u << 10);
static_assert(largest_result_text + (1u << 20) <= largest_answer_frame);

// Requests as JSON text, both ways; "" stands for nothing. The text holds the
// request's secrets. Results and errors: model/codec/outcome_text.hpp.
std::string to_text(const std::shared_ptr<const run_request>& request);
result<std::shared_ptr<const run_request>>
request_from_text(std::string_view text);

/// Whether the request can be sent over a link.
result<void> check_fits_link(const run_request& request);
/// The text for a link; of a result that is too long for one, how it ended.
std::string to_link_text(const std::shared_ptr<const run_result>& result);

} // namespace troupe
