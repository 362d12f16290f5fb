#pragma once

#include "net/client/http_client.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <optional>

namespace troupe {

/// The HTTP client for a command, which has nothing to do but wait: its work
/// is done in the thread that calls.
class blocking_client {
public:
  explicit blocking_client(net::client_options options);

  using clock = std::chrono::steady_clock;

  net::client_exchange send(net::client_request request);
  net::client_exchange stream(net::client_request request,
                              net::stream_reader reader);

  /// So many of them at once: `next` is asked by each of `at_once` callers
  /// until it has none, `ended` gets what came and how long it took, and says
  /// whether to go on.
  void send_all(
    std::size_t at_once,
    const std::function<std::optional<net::client_request>()>& next,
    const std::function<bool(net::client_exchange, clock::duration)>& ended);

private:
  net::client_exchange wait(boost::asio::awaitable<net::client_exchange> work);

  boost::asio::io_context io_{1};
  net::http_client client_;
};

} // namespace troupe
