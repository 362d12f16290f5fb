#pragma once

#include "net/http/request.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// What the heads of requests and answers become on their way through a
/// preview. No I/O.
namespace troupe::net {

/// What says that the bearer may use a port; none of it reaches the server
/// inside.
inline constexpr std::string_view port_token_field = "x-troupe-port-token";
inline constexpr std::string_view port_token_cookie = "troupe_port";
inline constexpr std::string_view port_token_query = "troupe_token";

struct forward_rules {
  std::string target; // origin form: begins with '/'
  std::string host;   // that the server inside hears of
  std::string prefix; // of the path form, before what it calls '/'; "": none
  std::string peer;   // the client's address
  bool tls = false;
  bool keep_authorization = true;
  bool keep_cookies = true; // but for ours
};

/// How the bytes behind the head of a request end.
struct body_shape {
  bool chunked = false;
  std::uint64_t length = 0; // if not chunked
};
body_shape body_shape_of(const request& in);

/// The protocol that the client wants to go over to; "": none.
std::string_view wanted_upgrade(const request& in);

/// The request as the server inside gets it: one that ends its connection, or
/// goes over to another protocol.
std::string forward_request(const request& in, const forward_rules& rules);

/// A target without the parameter that is ours.
std::string without_token(std::string_view target);
/// The value of that parameter, or "".
std::string_view token_in_query(std::string_view query);
/// The value of our cookie, or "".
std::string_view token_in_cookies(const request& in);

/// What is added to, and taken from, an answer on its way out.
struct answer_rules {
  std::string prefix; // as above; with one, a page must not act in our origin
  bool http10 = false;
  bool head_only = false; // the request was HEAD
  bool upgrade = false;   // the request wanted one
};

struct forwarded_answer {
  int status = 0;
  std::string text;                    // the whole head
  std::optional<std::uint64_t> length; // of the body; absent: until the end
  bool interim = false;                // another head follows; not passed on
  bool upgraded = false;               // from here on the bytes are opaque
};

/// A head up to its empty line. Nothing: it is not the head of an answer.
std::optional<forwarded_answer> forward_answer(std::string_view head,
                                               const answer_rules& rules);

} // namespace troupe::net
