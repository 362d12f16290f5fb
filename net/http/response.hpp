#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::net {

inline constexpr std::string_view json_type = "application/json";
inline constexpr std::string_view problem_type = "application/problem+json";
inline constexpr std::string_view text_type = "text/plain; charset=utf-8";

/// What goes back. Field values are checked when they are written: one with a
/// control character is left out rather than split the answer.
struct response {
  int status = 200;
  std::string_view type = json_type; // a constant; "": no content
  std::string body;
  std::vector<std::pair<std::string_view, std::string>> fields;
  bool close = false;
};

/// What the connection knows about the answer beside its content.
struct answer_frame {
  std::string_view date;
  std::string_view request_id;
  bool head_only = false; // the request was HEAD
  bool http10 = false;
  bool keep = true;     // the connection goes on
  bool chunked = false; // a stream: no length is known
  bool tls = false;
};

/// Appends status line, fields and, unless `frame` says no, the body.
void append_answer(std::string& out, const response& r,
                   const answer_frame& frame);

/// Whether a text can be a field value without splitting the answer.
bool is_field_value(std::string_view text);

/// Whether an Accept-Encoding list takes gzip.
bool accepts_gzip(std::string_view accept_encoding);

/// The gzip form, or nothing when zlib declines.
std::optional<std::string> gzip(std::string_view text);

} // namespace troupe::net
