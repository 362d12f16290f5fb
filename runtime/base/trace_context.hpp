#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// The trace that work belongs to: W3C Trace Context.
struct trace_context {
  std::array<std::uint8_t, 16> trace{};
  std::array<std::uint8_t, 8> span{};
  bool sampled = false;
};

/// Nothing for a malformed one and for all zeros: the trace begins anew then.
/// Of later versions only what version 00 knows is read.
std::optional<trace_context> parse_traceparent(std::string_view text);
/// "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
std::string to_traceparent(const trace_context& context);

/// The next span of a trace, or the first of a new one. Whatever began the
/// trace has decided whether it is sampled; else `share` of them are, by their
/// ids, so that every service decides alike.
trace_context next_span(const std::optional<trace_context>& parent,
                        double share);

/// Spelled anew when it is well-formed, so that nothing else goes out under its
/// name; otherwise the first span of a trace that is not sampled.
std::string known_or_new_trace(std::string_view traceparent);

std::string hex_of(const std::uint8_t* bytes, std::size_t size);

} // namespace troupe
