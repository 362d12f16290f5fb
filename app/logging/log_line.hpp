#pragma once

#include "runtime/base/log.hpp"

#include <chrono>
#include <span>
#include <string>
#include <string_view>

namespace troupe {

/// One line of the log, newline included. Control characters are escaped, so
/// that no text can pretend to be another line.
std::string json_line(std::chrono::system_clock::time_point at, log::level l,
                      std::string_view text, std::span<const log::field> more);
std::string text_line(std::chrono::system_clock::time_point at, log::level l,
                      std::string_view text, std::span<const log::field> more,
                      bool color);

/// Without control characters, which could move a terminal's cursor or begin
/// another line.
std::string strip_control_characters(std::string_view text);

} // namespace troupe
