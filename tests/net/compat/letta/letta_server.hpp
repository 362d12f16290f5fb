#pragma once

#include "net/compat/letta/letta.hpp"
#include "tests/support/http/http_server.hpp"

#include <string>
#include <string_view>

namespace troupe::test {

/// As http_house, with Letta's doors.
struct letta_house {
  explicit letta_house(net::letta::letta_options how = {}) {
    net::letta::add_letta(server.routes(), engine, std::move(how));
    BOOST_REQUIRE(server.start());
  }
  static net::server_options options() {
    net::server_options o;
    o.listen = {"127.0.0.1:0"};
    o.threads = 1;
    return o;
  }
  test::raw_answer send(std::string_view verb, const std::string& path,
                        std::string_view body = {},
                        std::string_view fields = {}) {
    return ask(server.port(), verb, "/compat/letta" + path, body, fields);
  }
  json::value value(std::string_view verb, const std::string& path,
                    std::string_view body = {}) {
    auto a = send(verb, path, body);
    BOOST_TEST(a.status == 200, path << " " << a.status << a.body);
    return json::parse(a.body).value();
  }

  fake_engine engine;
  net::http_server server{engine, options()};
};

inline const std::string adder
  = R"({"source_code":"def add(a: int):\n  \"\"\"x\"\"\"\n  return a\n"})";

} // namespace troupe::test
