#pragma once

#include "net/api/api.hpp"
#include "net/server/server.hpp"
#include "tests/support/engine/fake_engine.hpp"
#include "tests/support/engine/fake_environments.hpp"
#include "tests/support/engine/fake_maintenance.hpp"
#include "tests/support/engine/fake_sandboxes.hpp"
#include "tests/support/http/raw_http.hpp"

#include <boost/test/unit_test.hpp>

#include <optional>

namespace troupe::test {

/// A server with one thread on a free port, over the engine in memory.
struct http_house {
  explicit http_house(net::server_options options = {},
                      net::api_options api = {},
                      std::optional<api_key> first = {})
      : server{engine, prepare(std::move(options))} {
    if (first) // beyond loopback nothing starts without one
      engine.add_key(std::move(*first));
    api.packages = &packages;
    api.keeper = &keeper;
    api.sandboxes = &sandboxes;
    net::add_api(server.routes(), engine, std::move(api));
    auto started = server.start();
    BOOST_REQUIRE_MESSAGE(
      started.has_value(),
      (started.has_error() ? started.error().text : std::string{}));
    port = server.port();
  }

  static net::server_options prepare(net::server_options o) {
    if (o.listen.size() == 1 && o.listen.front() == "127.0.0.1:8283")
      o.listen = {"127.0.0.1:0"};
    if (o.threads == 0)
      o.threads = 1;
    return o;
  }

  raw_answer get(std::string_view path, std::string_view fields = {}) {
    return ask(port, "GET", path, {}, fields);
  }
  raw_answer post(std::string_view path, std::string_view body,
                  std::string_view fields = {}) {
    return ask(port, "POST", path, body, fields);
  }

  fake_engine engine;
  fake_environments packages;
  fake_maintenance keeper;
  fake_sandboxes sandboxes;
  net::http_server server;
  std::uint16_t port = 0;
};

} // namespace troupe::test
