#pragma once

#include <boost/beast/http/verb.hpp>

#include <string>
#include <string_view>

namespace troupe::net {

/// One request beside runs, as a line of a provider's table of them.
struct operation {
  using verb = boost::beast::http::verb;

  std::string_view doing; // "list a folder", for errors
  verb method = verb::post;
  std::string target; // already encoded
  std::string body{};
  std::string type{}; // of the body; "": JSON
  /// May be carried out twice. What only looks may anyway.
  bool repeatable = false;

  bool may_repeat() const { return repeatable || method == verb::get; }
};

} // namespace troupe::net
