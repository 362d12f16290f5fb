#pragma once

#include "runtime/json/json.hpp"
#include "tests/support/http/raw_http.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

// What the tests of the API say again and again.
namespace troupe::test {

inline json::object object_of(const raw_answer& a) {
  auto parsed = json::parse_object(a.body);
  BOOST_REQUIRE_MESSAGE(parsed.has_value(), a.body);
  return *parsed;
}

inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1))
    ++n;
  return n;
}

/// The bytes of a POST, for a client that does not wait for its answer.
inline std::string posting(const std::string& path, const std::string& body,
                           const std::string& fields = {}) {
  return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\n"
    + "Content-Type: application/json\r\nContent-Length: "
    + std::to_string(body.size()) + "\r\n" + fields + "\r\n" + body;
}

inline std::string tool_body(const std::string& name) {
  return R"({"source_code":"def )" + name + R"((a):\n  return a\n"})";
}

} // namespace troupe::test
