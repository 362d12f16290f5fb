#pragma once

#include "runtime/json/json.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

/// JSON-RPC 2.0 as the Model Context Protocol has it.
namespace troupe::net::mcp {

namespace codes {
inline constexpr int parse_error = -32700;
inline constexpr int invalid_request = -32600;
inline constexpr int method_not_found = -32601;
inline constexpr int invalid_params = -32602;
inline constexpr int internal_error = -32603;
inline constexpr int header_mismatch = -32020;
inline constexpr int missing_capability = -32021;
inline constexpr int unsupported_version = -32022;
} // namespace codes

struct rpc_error {
  int status = 200; // of HTTP
  int code = codes::internal_error;
  std::string message;
  std::string data{}; // JSON; "": none
};

struct rpc_message {
  enum class kind { request, notification, response } what = kind::request;
  std::string id; // as JSON; "" for a notification
  std::string method;
  json::object params;

  bool is_request() const { return what == kind::request; }
  /// A member of `params._meta`; null: it is not there.
  const json::value* meta(std::string_view name) const;
  /// The text of a member of `params`; nothing: it has none.
  std::optional<std::string_view> text(std::string_view name) const;
};

/// What is wrong with a body, and the id that it may carry all the same.
struct bad_message {
  rpc_error why;
  std::string id{};
};

/// Hostile until it is read: JSON by the strictest rules, one message only.
std::variant<rpc_message, bad_message> read_message(std::string_view body);

/// {"jsonrpc":"2.0","id":1,"result":{...}}
std::string result_text(std::string_view id, std::string_view result);
std::string error_text(std::string_view id, const rpc_error& why);
std::string notification_text(std::string_view method, std::string_view params);

} // namespace troupe::net::mcp
