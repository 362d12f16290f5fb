#pragma once

#include "net/client/http_client.hpp"
#include "net/providers/e2b/calls.hpp"
#include "net/providers/e2b/provider.hpp"
#include "runtime/engine/sandbox.hpp"

#include <boost/beast/http/verb.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace troupe::net {

/// How E2B's two planes are spoken to: the control plane, and what listens on
/// the ports of each sandbox.
class e2b_client {
public:
  using verb = boost::beast::http::verb;
  static constexpr std::string_view service = "E2B";
  static constexpr std::string_view key_setting = "e2b.api-key (E2B_API_KEY)";
  static constexpr std::uint16_t envd_port = 49983;
  static constexpr std::uint16_t interpreter_port = 49999;

  /// Without a `sandbox_url` a sandbox is found by its domain: at a host for
  /// all of them, or at host names of its own.
  e2b_client(std::shared_ptr<http_client> http, e2b_options options,
             base_url api, std::optional<base_url> sandbox_url);

  const e2b_options& options() const { return options_; }
  http_client& http() const { return *http_; }

  client_request to_api(verb method, std::string target,
                        const call_scope& scope) const;
  result<client_request> to_sandbox(const sandbox_handle& sandbox,
                                    std::uint16_t port, verb method,
                                    std::string target,
                                    const call_scope& scope) const;

  boost::asio::awaitable<client_exchange>
  ask(sandbox_handle sandbox, e2b::call what, call_scope scope) const;
  /// The reply when it is a good one.
  boost::asio::awaitable<result<client_response>>
  perform(sandbox_handle sandbox, e2b::call what, call_scope scope) const;

private:
  result<client_request> request_for(const sandbox_handle& sandbox,
                                     e2b::call what,
                                     const call_scope& scope) const;
  result<base_url> place_of(const sandbox_handle& sandbox,
                            std::uint16_t port) const;

  std::shared_ptr<http_client> http_;
  e2b_options options_;
  base_url api_;
  std::optional<base_url> sandbox_url_;
};

} // namespace troupe::net
