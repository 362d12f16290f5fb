#pragma once

#include "net/mcp/mcp.hpp"
#include "net/server/server.hpp"
#include "runtime/json/json.hpp"
#include "tests/support/engine/fake_engine.hpp"
#include "tests/support/engine/fake_sandboxes.hpp"
#include "tests/support/http/raw_http.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>

namespace troupe::test {

/// A server with /mcp over sandboxes in memory.
struct mcp_house {
  explicit mcp_house(net::mcp::mcp_options how = {},
                     net::server_options listening = {})
      : server{engine, prepare(std::move(listening))} {
    how.sandboxes = &sandboxes;
    net::mcp::add_mcp(server.routes(), engine, std::move(how));
    BOOST_REQUIRE(server.start());
  }
  static net::server_options prepare(net::server_options o) {
    o.listen = {"127.0.0.1:0"};
    o.threads = 1;
    return o;
  }

  static constexpr std::string_view both
    = "Accept: application/json, text/event-stream\r\n";
  static constexpr std::string_view meta
    = R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
      R"("io.modelcontextprotocol/clientCapabilities":{}})";

  raw_answer send(std::string_view verb, std::string_view body,
                  std::string_view fields, std::string_view path = "/mcp") {
    return ask(server.port(), verb, path, body, fields);
  }

  // -- the modern form -------------------------------------------------------
  static std::string head_of(std::string_view method,
                             std::string_view name = {}) {
    std::string fields{both};
    fields.append("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: ")
      .append(method)
      .append("\r\n");
    if (!name.empty())
      fields.append("Mcp-Name: ").append(name).append("\r\n");
    return fields;
  }
  static std::string body_of(std::string_view method,
                             std::string_view params = {}) {
    std::string body{R"({"jsonrpc":"2.0","id":1,"method":")"};
    body.append(method).append(R"(","params":{)").append(params);
    return body.append(params.empty() ? "" : ",").append(meta).append("}}");
  }
  raw_answer modern(std::string_view method, std::string_view params = {},
                    std::string_view name = {}, std::string_view more = {},
                    std::string_view path = "/mcp") {
    return send("POST", body_of(method, params),
                head_of(method, name) + std::string{more}, path);
  }
  /// The result of a call of a tool.
  json::object call(std::string_view tool, std::string_view arguments = "{}",
                    std::string_view more = {},
                    std::string_view path = "/mcp") {
    std::string params{R"("name":")"};
    params.append(tool).append(R"(","arguments":)").append(arguments);
    auto a = modern("tools/call", params, tool, more, path);
    BOOST_TEST(a.status == 200, a.body);
    auto o = json::parse_object(a.body);
    BOOST_REQUIRE_MESSAGE(o && o->contains("result"), a.body);
    return o->at("result").get_object();
  }

  // -- the legacy form -------------------------------------------------------
  std::string open(std::string_view version = "2025-11-25",
                   std::string_view more = {}) {
    std::string body{
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")"};
    body.append(version).append(
      R"(","capabilities":{},"clientInfo":{"name":"c","version":"1"}}})");
    auto a = send("POST", body, std::string{both} + std::string{more});
    BOOST_REQUIRE_MESSAGE(a.status == 200, a.body);
    return a.fields["mcp-session-id"];
  }
  raw_answer legacy(std::string_view session, std::string_view body,
                    std::string_view more = {}) {
    return send("POST", body,
                std::string{both} + "Mcp-Session-Id: " + std::string{session}
                  + "\r\n" + std::string{more});
  }

  fake_engine engine;
  fake_sandboxes sandboxes;
  net::http_server server;
};

/// A request as it is written, for a client that goes on reading.
inline std::string posted(std::string_view fields, std::string_view body) {
  std::string text{"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                   "application/json\r\nContent-Length: "};
  return text.append(std::to_string(body.size()))
    .append("\r\n")
    .append(fields)
    .append("\r\n")
    .append(body);
}

/// Puts a tool of the default organization into the catalog.
inline void store(fake_engine& engine, tool t) {
  caller who;
  who.organization = default_organization();
  if (t.source_code.empty())
    t.source_code = "def f(): pass";
  engine.change(who, put_tool{std::move(t)},
                [](result<change_reply> done) { BOOST_REQUIRE(done); });
}

inline std::string text_of(const json::object& result) {
  return std::string{result.at("content").at(0).at("text").as_string()};
}

inline bool failed(const json::object& result) {
  const auto* said = result.if_contains("isError");
  return said && said->as_bool();
}

} // namespace troupe::test
