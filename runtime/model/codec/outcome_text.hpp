#pragma once

#include "runtime/base/error.hpp"
#include "runtime/model/run.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace troupe {

/// No result is longer, also when every byte of its output is escaped.
inline constexpr std::size_t largest_result_text = 63u << 20;

// How a run ended as JSON text, both ways: for the wire between nodes and for
// what is kept under a key. "" stands for nothing.
std::string to_text(const std::shared_ptr<const run_result>& result);
std::string to_text(const std::shared_ptr<const error>& failure);
result<std::shared_ptr<const run_result>>
result_from_text(std::string_view text);
result<std::shared_ptr<const error>> error_from_text(std::string_view text);

} // namespace troupe
