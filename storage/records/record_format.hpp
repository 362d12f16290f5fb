#pragma once

#include "runtime/json/json.hpp"

#include <string>
#include <string_view>

/// The form of what is stored: a format byte, JSON, and bytes that are no JSON
/// (a sealed value, a result's text), each behind its length.
namespace troupe::records {

std::string encode(const json::object& body, std::string_view extra = {});
/// `body` is an object's text already. `secret`, if there is one, is copied
/// once, into what is returned.
std::string encode_text(std::string_view body, std::string_view extra = {},
                        std::string_view secret = {});

struct decoded {
  json::object body;
  std::string_view extra; // into the bytes that were decoded
  std::string_view secret;
};
/// `what` names the kind of record in the error: `internal`, the store is
/// damaged, or `invalid_request`, a newer version wrote it.
result<decoded> decode(std::string_view bytes, std::string_view what);

/// An `internal` error about a record that cannot be what was written.
error damaged(std::string_view what, std::string_view why);

} // namespace troupe::records
