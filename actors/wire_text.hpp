#pragma once

#include "runtime/error.hpp"
#include "runtime/model/run.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace troupe {

/// Largest message to or from another node; a longer one breaks the link.
inline constexpr std::size_t max_wire_bytes = 4u << 20;

// Requests, results and errors as JSON text, both ways: for the wire between
// nodes and for what is kept under a key. "" stands for nothing. The text of a
// request holds its secrets.
std::string to_text(const std::shared_ptr<const run_request>& request);
std::string to_text(const std::shared_ptr<const run_result>& result);
std::string to_text(const std::shared_ptr<const error>& failure);
result<std::shared_ptr<const run_request>>
request_from_text(std::string_view text);
result<std::shared_ptr<const run_result>>
result_from_text(std::string_view text);
result<std::shared_ptr<const error>> error_from_text(std::string_view text);

} // namespace troupe
