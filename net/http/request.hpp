#pragma once

#include "runtime/base/secret.hpp"
#include "runtime/base/text.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::net {

enum class method : std::uint8_t { get, head, post, put, patch, del, options };

inline constexpr std::size_t method_count = 7;
std::string_view to_string(method m);

/// A request after every check. The views point into `head`.
struct request {
  method verb = method::get;
  bool http10 = false;
  std::string head;        // the bytes of the request line and the fields
  std::string_view target; // as received
  std::string path;        // decoded once, begins with '/', no dot segments
  std::string_view query;  // as received, without '?'
  std::vector<std::pair<std::string_view, std::string_view>> fields;
  std::string body;
  std::string id; // X-Request-Id, the client's or ours

  request() = default;
  /// Both may hold secrets: a key, the variables of a run.
  ~request() {
    wipe(head);
    wipe(body);
  }
  request(const request&) = delete; // the views would dangle
  request& operator=(const request&) = delete;

  /// The value of the first field of that name (ASCII case is ignored), or "".
  std::string_view field(std::string_view name) const;
  std::size_t count(std::string_view name) const;
  bool has(std::string_view name) const { return count(name) != 0; }
};

bool equal_ignoring_case(std::string_view a, std::string_view b);
/// Whether a comma-separated list has the token, ASCII case ignored.
bool has_token(std::string_view list, std::string_view token);

/// Undoes percent-encoding; nothing for a malformed or hidden (%00) byte.
std::optional<std::string> percent_decode(std::string_view text,
                                          bool plus_is_space = false);

} // namespace troupe::net
