#pragma once

#include "net/http/request.hpp"
#include "runtime/base/error.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {
class secret;
} // namespace troupe

namespace troupe::net {

class exchange;
struct response;
using exchange_ptr = std::shared_ptr<exchange>;
using route_handler = std::function<void(exchange_ptr)>;

/// Writes a failure in the way the clients of a path expect it.
using error_writer
  = response (*)(int status, std::string_view code, const error& why,
                 std::string_view request_id, std::string_view run_id);

enum class body_rule : std::uint8_t {
  none, // a body with content is refused
  json, // application/json, or nothing at all
  any,  // the handler looks at Content-Type itself
};

struct route_rules {
  std::uint8_t needs = 0;          // bits of `scope`; 0: any caller
  bool public_route = false;       // no authentication
  bool public_on_loopback = false; // the same, on loopback or where that is set
  bool health_route = false;       // answered while draining or overloaded, too
  bool ignore_foreign_credentials
    = false; // credentials that are not ours are overlooked
  /// In place of a key: a caller with it is the default organization, and
  /// one without it and without a key is not authenticated.
  std::shared_ptr<const secret> password;
  /// Looks at the head before the body is read.
  std::optional<error> (*inspect)(const request& in) = nullptr;
  /// A request with a token of a port is let in without a key, as nobody: the
  /// handler looks at it.
  bool port_token = false;
  /// The handler gets the request without its body, and may take the connection
  /// over: that is not used for another request.
  bool takes_over = false;
  body_rule body = body_rule::json;
  std::size_t body_limit = 0;     // 0: the server's
  error_writer failure = nullptr; // nullptr: problem+json
};

struct route {
  method verb = method::get;
  std::string path; // "/v1/runs/{id}"
  route_rules rules;
  route_handler handle;
  std::size_t index = 0; // for the counters
};

/// What a path leads to.
struct route_match {
  static constexpr std::size_t max_params = 4;
  const route* found = nullptr;
  std::uint8_t allowed = 0; // bits by `method`; 0: there is no such path
  std::size_t param_count = 0;
  std::array<std::string_view, max_params> params{}; // into the path
};

/// Methods and path templates, compiled into a tree as they are added. A
/// segment is literal, `{name}`, or at the end `{name...}` for all the rest;
/// literal ones win. One trailing slash makes no difference.
class router {
public:
  void add(method verb, std::string path, route_handler handle,
           route_rules rules = {});
  /// How failures look under a prefix when no route was found.
  void style(std::string prefix, error_writer writer);

  /// Where requests below a prefix ("": all) are looked up by more than their
  /// path: `to` gives the path of the route. Before it serves.
  using path_rule = std::string (*)(const request& in);
  void redirect(std::string prefix, path_rule to);
  /// Nothing: by its own path.
  std::optional<std::string> redirected(const request& in) const;

  route_match find(method verb, std::string_view path) const;
  error_writer style_of(std::string_view path) const;
  const std::deque<route>& routes() const { return routes_; }

private:
  struct node {
    std::vector<std::pair<std::string, std::size_t>> literals;
    std::size_t param = 0; // 0: none, since the root is not a child
    bool rest = false;     // the parameter takes everything that is left
    std::array<const route*, method_count> by_method{};
  };

  std::size_t walk(std::size_t at, std::string_view rest,
                   route_match& out) const;
  bool leads(std::size_t at) const;
  std::size_t child(std::size_t at, std::string_view segment);

  std::deque<route> routes_; // stable addresses
  std::vector<node> nodes_{node{}};
  std::vector<std::pair<std::string, error_writer>> styles_;
  std::vector<std::pair<std::string, path_rule>> redirects_;
};

/// "GET, HEAD, OPTIONS" for an Allow field.
std::string allow_list(std::uint8_t methods);

} // namespace troupe::net
