#include "app/cli/blocking_client.hpp"

#include <boost/asio/co_spawn.hpp>

#include <exception>

namespace troupe {

namespace asio = boost::asio;

blocking_client::blocking_client(net::client_options options)
    : client_{io_.get_executor(), std::move(options)} {}

net::client_exchange
blocking_client::wait(asio::awaitable<net::client_exchange> work) {
  std::optional<net::client_exchange> done;
  asio::co_spawn(io_, std::move(work),
                 [&](std::exception_ptr failed, net::client_exchange ended) {
                   if (failed)
                     std::rethrow_exception(failed);
                   done.emplace(std::move(ended));
                 });
  io_.restart();
  while (!done && io_.run_one() > 0) {
  }
  return std::move(*done);
}

net::client_exchange blocking_client::send(net::client_request request) {
  return wait(client_.send(std::move(request)));
}

net::client_exchange blocking_client::stream(net::client_request request,
                                             net::stream_reader reader) {
  return wait(client_.stream(std::move(request), std::move(reader)));
}

void blocking_client::send_all(
  std::size_t at_once,
  const std::function<std::optional<net::client_request>()>& next,
  const std::function<bool(net::client_exchange, clock::duration)>& ended) {
  bool on = true;
  auto caller = [&]() -> asio::awaitable<void> {
    while (on) {
      auto request = next();
      if (!request)
        break;
      auto since = clock::now();
      auto came = co_await client_.send(std::move(*request));
      on = ended(std::move(came), clock::now() - since) && on;
    }
  };
  std::size_t active = at_once;
  for (std::size_t i = at_once; i > 0; --i)
    asio::co_spawn(io_, caller(), [&](std::exception_ptr failed) {
      --active;
      if (failed)
        std::rethrow_exception(failed);
    });
  io_.restart();
  while (active > 0 && io_.run_one() > 0) {
  }
}

} // namespace troupe
