#pragma once

#include "net/client/http_client.hpp"
#include "net/providers/daytona/calls.hpp"
#include "net/providers/daytona/provider.hpp"
#include "runtime/engine/sandbox.hpp"

#include <boost/beast/http/verb.hpp>

#include <string>
#include <string_view>

namespace troupe::net {

/// How Daytona's two planes are spoken to: the control API, and the toolbox of
/// each sandbox behind a proxy.
class daytona_client {
public:
  using verb = boost::beast::http::verb;
  static constexpr std::string_view service = "Daytona";
  static constexpr std::string_view key_setting
    = "daytona.api-key (DAYTONA_API_KEY)";

  daytona_client(std::shared_ptr<http_client> http, daytona_options options,
                 base_url api);

  client_request to_api(verb method, std::string target,
                        const call_scope& scope) const;
  result<client_request> to_toolbox(const sandbox_handle& sandbox, verb method,
                                    std::string target,
                                    const call_scope& scope) const;

  boost::asio::awaitable<client_exchange> send(client_request r);
  /// The reply when it is a good one; else `acted` (may be null) learns whether
  /// something may have been begun all the same.
  boost::asio::awaitable<result<client_response>>
  call(result<client_request> r, std::string_view doing, bool* acted = nullptr);

  boost::asio::awaitable<result<client_response>>
  perform(sandbox_handle sandbox, daytona::call what, call_scope scope);

  /// How often something is looked at: often in its first seconds, then less
  /// and less.
  struct poll_interval {
    std::chrono::steady_clock::time_point began
      = std::chrono::steady_clock::now();
    std::chrono::milliseconds delay{0};
  };
  /// Waits before the next look.
  boost::asio::awaitable<result<void>> pause(poll_interval& so_far,
                                             call_scope scope) const;

private:
  client_request request(base_url place, verb method, std::string target,
                         const call_scope& scope) const;

  std::shared_ptr<http_client> http_;
  daytona_options options_;
  base_url api_;
};

} // namespace troupe::net
