#pragma once

#include "net/server/exchange.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace troupe::net {

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
