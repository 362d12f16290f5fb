#pragma once

#include "net/client/http_client.hpp"
#include "tests/support/http/scripted_server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>
#include <string>

/// A client on a thread that only turns while it is asked something.
namespace troupe::test {

using namespace troupe::net;
using namespace std::chrono_literals;

inline const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A server that gives every request of every connection the same answer.
inline scripted_server::script always(std::string answer) {
  return [answer](peer& p, int) {
    while (!p.read_request().empty())
      p.write(answer);
  };
}

inline client_options impatient() {
  client_options o;
  o.retry.first_delay = 1ms;
  return o;
}

struct client_fixture {
  boost::asio::io_context io;
  client_options options = impatient();
  std::unique_ptr<http_client> client;

  client_request request(const scripted_server& server) {
    client_request r;
    r.service = {false, "127.0.0.1", server.port(), ""};
    r.deadline = std::chrono::steady_clock::now() + 5s;
    return r;
  }
  client_exchange send(client_request r, stream_reader reader = {}) {
    if (!client)
      client = std::make_unique<http_client>(io.get_executor(), options);
    std::optional<client_exchange> out;
    auto work =
      [](http_client& c, client_request r, stream_reader reader,
         std::optional<client_exchange>& out) -> boost::asio::awaitable<void> {
      out = co_await c.stream(std::move(r), std::move(reader));
    };
    boost::asio::co_spawn(io,
                          work(*client, std::move(r), std::move(reader), out),
                          boost::asio::detached);
    io.restart();
    while (!out && io.run_one() > 0) {
    }
    BOOST_REQUIRE(out.has_value());
    return std::move(*out);
  }
};

} // namespace troupe::test
