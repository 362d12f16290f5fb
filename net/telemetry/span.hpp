#pragma once

#include "runtime/base/trace_context.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace troupe::net {

using span_value = std::variant<std::string, std::int64_t>;

/// A finished piece of work, as a collector takes it. Never with a value of a
/// variable, an argument or output of a tool in it.
struct span {
  trace_context context;
  std::array<std::uint8_t, 8> parent{}; // zeros: the first of its trace
  std::string name;
  std::chrono::system_clock::time_point begin{};
  std::chrono::system_clock::time_point end{};
  std::vector<std::pair<std::string_view, span_value>> attributes;
  bool failed = false;
  std::string status; // of a failed one
};

/// The body of an OTLP/HTTP export request, in JSON.
std::string to_otlp_json(const std::vector<span>& spans,
                         std::string_view instance);

} // namespace troupe::net
