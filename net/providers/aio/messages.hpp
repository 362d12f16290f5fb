#pragma once

#include "runtime/base/error.hpp"
#include "runtime/json/json.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// What an AIO sandbox answers.
namespace troupe::net::aio {

inline constexpr std::size_t max_reply_bytes = 64u << 20;

/// `data` of the envelope. A failure can hide in a reply with status 200.
result<json::object> unwrap(std::string_view body, std::string_view doing);

/// A command as its beginning, or a later look at it, reports.
struct command_report {
  std::string session;
  std::string command;
  std::string status;
  std::int32_t exit_code = 0;
  std::string out; // new since the offsets that were asked for
  std::string err;
  std::int64_t offset = 0;
  std::int64_t err_offset = 0;

  bool running() const { return status == "running" || status == "pending"; }
};
/// An error when it says neither that it runs nor how it ended.
result<command_report> parse_report(const json::object& data);

} // namespace troupe::net::aio
