#include "net/previews/body_meter.hpp"
#include "net/previews/forwarded_head.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe::net;

BOOST_AUTO_TEST_SUITE(forwarded_heads)

namespace {

/// As the parser would have read it.
struct parsed {
  explicit parsed(std::string head) {
    in.head = std::move(head);
    std::string_view rest{in.head};
    const auto line = rest.substr(0, rest.find("\r\n"));
    in.target = line.substr(4, line.rfind(' ') - 4);
    for (rest.remove_prefix(line.size() + 2); !rest.starts_with("\r\n");) {
      const auto one = rest.substr(0, rest.find("\r\n"));
      const auto colon = one.find(": ");
      in.fields.emplace_back(one.substr(0, colon), one.substr(colon + 2));
      rest.remove_prefix(one.size() + 2);
    }
  }
  request in;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

forwarded_answer answered(const std::string& fields,
                          const answer_rules& rules = {}) {
  auto out = forward_answer("HTTP/1.1 200 OK\r\n" + fields + "\r\n", rules);
  BOOST_REQUIRE_MESSAGE(out, fields);
  return *out;
}

} // namespace

BOOST_AUTO_TEST_CASE(tell_a_server_what_is_meant_for_it_and_nothing_else) {
  parsed p{"GET /x HTTP/1.1\r\nHost: outside\r\nAccept: a/b\r\n"
           "Connection: keep-alive, X-Mine\r\nX-Mine: 1\r\nTE: trailers\r\n"
           "X-Forwarded-For: 9.9.9.9\r\nForwarded: for=9.9.9.9\r\n"
           "X-Troupe-Port-Token: secret\r\nAuthorization: Bearer secret\r\n"
           "Cookie: a=1; troupe_port=secret; b=2\r\nExpect: 100-continue\r\n"
           "Upgrade: h2c\r\nHTTP2-Settings: x\r\n\r\n"};
  forward_rules rules;
  rules.target = "/y?q=1";
  rules.host = "localhost:3000";
  rules.peer = "127.0.0.1";
  rules.prefix = "/p";
  rules.keep_authorization = false;
  const auto text = forward_request(p.in, rules);
  BOOST_TEST(
    text.starts_with("GET /y?q=1 HTTP/1.1\r\nhost: localhost:3000\r\n"));
  for (const char* gone :
       {"secret", "9.9.9.9", "X-Mine", "TE:", "Expect", "h2c", "HTTP2"})
    BOOST_TEST(!has(text, gone), gone << " in " << text);
  for (const char* there :
       {"Accept: a/b\r\n", "Cookie: a=1; b=2\r\n",
        "x-forwarded-for: 127.0.0.1\r\n", "x-forwarded-proto: http\r\n",
        "x-forwarded-host: outside\r\n", "x-forwarded-prefix: /p\r\n",
        "connection: close\r\n\r\n"})
    BOOST_TEST(has(text, there), there << " not in " << text);
}

BOOST_AUTO_TEST_CASE(keep_the_framing_even_if_the_connection_names_it) {
  parsed p{"GET / HTTP/1.1\r\nHost: x\r\nConnection: content-length\r\n"
           "Content-Length: 5\r\n\r\n"};
  forward_rules rules;
  rules.target = "/";
  BOOST_TEST(has(forward_request(p.in, rules), "Content-Length: 5\r\n"));
}

BOOST_AUTO_TEST_CASE(pass_an_upgrade_on_that_has_no_body) {
  const std::string wants = "GET / HTTP/1.1\r\nHost: x\r\nConnection: "
                            "keep-alive, Upgrade\r\nUpgrade: websocket\r\n";
  parsed p{wants + "\r\n"};
  forward_rules rules;
  rules.target = "/";
  BOOST_TEST(wanted_upgrade(p.in) == "websocket");
  BOOST_TEST(has(forward_request(p.in, rules),
                 "upgrade: websocket\r\nconnection: Upgrade\r\n\r\n"));
  parsed bodied{wants + "Content-Length: 1\r\n\r\n"};
  BOOST_TEST(wanted_upgrade(bodied.in) == "");
}

BOOST_AUTO_TEST_CASE(let_no_page_act_for_the_origin_that_it_is_shown_in) {
  answer_rules apart;
  apart.prefix = "/p";
  const auto path
    = answered("Set-Cookie: a=b\r\nService-Worker-Allowed: /\r\n"
               "Clear-Site-Data: \"*\"\r\nLocation: /login\r\nX: y\r\n"
               "Connection: keep-alive\r\n",
               apart);
  for (const char* gone :
       {"Set-Cookie", "Service-Worker", "Clear-Site", "keep-alive"})
    BOOST_TEST(!has(path.text, gone), gone);
  for (const char* there :
       {"Location: /p/login\r\n", "X: y\r\n",
        "content-security-policy: sandbox allow-scripts allow-forms\r\n",
        "x-content-type-options: nosniff\r\n", "connection: close\r\n\r\n"})
    BOOST_TEST(has(path.text, there), there << " not in " << path.text);
  // Another host is not a place of the server's own.
  BOOST_TEST(has(answered("Location: //evil/x\r\n", apart).text,
                 "Location: //evil/x\r\n"));
  const auto host
    = answered("Set-Cookie: a=b; Domain=localhost; Path=/; HttpOnly\r\n"
               "Set-Cookie: troupe_port=mine\r\n");
  BOOST_TEST(has(host.text, "Set-Cookie: a=b; Path=/; HttpOnly\r\n"));
  BOOST_TEST(!has(host.text, "troupe_port"));
  BOOST_TEST(!has(host.text, "content-security-policy"));
}

BOOST_AUTO_TEST_CASE(are_refused_when_they_say_two_things_or_nothing) {
  for (const char* fields :
       {"Content-Length: 1\r\nContent-Length: 2\r\n",
        "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: -1\r\n", "Content-Length: 1, 1\r\n",
        "Content-Length: \r\n", "No colon\r\n", ": empty\r\n", "A b: c\r\n",
        "A: b\n C: d\r\n", "A: b\rC: d\r\n", " folded: x\r\n",
        "Content-Length : 1\r\n"})
    BOOST_TEST(
      !forward_answer("HTTP/1.1 200 OK\r\n" + std::string{fields} + "\r\n", {}),
      fields);
  for (const char* line : {"HTTP/2 200 OK", "HTTP/1.1 20 OK", "HTTP/1.1 2000",
                           "HTTP/1.1", "hello", "HTTP/1.1 099 x", ""})
    BOOST_TEST(!forward_answer(std::string{line} + "\r\n\r\n", {}), line);
  BOOST_TEST(!forward_answer("HTTP/1.1 101 x\r\nUpgrade: y\r\n\r\n", {}));
  answer_rules old;
  old.http10 = true;
  BOOST_TEST(!forward_answer(
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", old));
}

BOOST_AUTO_TEST_CASE(know_where_a_body_ends) {
  BOOST_TEST((answered("Content-Length: 7\r\n").length == 7u));
  BOOST_TEST(
    (answered("Content-Length: 7\r\nContent-Length: 7\r\n").length == 7u));
  BOOST_TEST((!answered("Transfer-Encoding: chunked\r\n").length));
  answer_rules head;
  head.head_only = true;
  BOOST_TEST((answered("Content-Length: 7\r\n", head).length == 0u));
  BOOST_TEST((forward_answer("HTTP/1.1 204 x\r\n\r\n", {})->length == 0u));
  BOOST_TEST(forward_answer("HTTP/1.1 103 x\r\n\r\n", {})->interim);
}

BOOST_AUTO_TEST_CASE(cut_the_token_and_leave_the_rest_of_the_query) {
  BOOST_TEST(without_token("/a?troupe_token=x") == "/a");
  BOOST_TEST(without_token("/a?b=1&troupe_token=x&c=%20") == "/a?b=1&c=%20");
  BOOST_TEST(without_token("/a?my_troupe_token=x") == "/a?my_troupe_token=x");
  BOOST_TEST(token_in_query("b=1&troupe_token=x&c") == "x");
  BOOST_TEST(token_in_query("my_troupe_token=x") == "");
  parsed p{"GET / HTTP/1.1\r\nCookie: a=b;troupe_port=tok; c=d\r\n\r\n"};
  BOOST_TEST(token_in_cookies(p.in) == "tok");
}

BOOST_AUTO_TEST_CASE(measure_bodies_to_their_last_byte) {
  struct row {
    std::string_view bytes;
    std::size_t body;
    bool done;
    bool bad;
  };
  const row rows[]
    = {{"5\r\nhello\r\n0\r\n\r\nGET / HTTP/1.1", 15, true, false},
       {"A\r\n0123456789\r\n0\r\n\r\n", 20, true, false},
       {"5\r\nhel", 6, false, false},
       {"0\r\n\r\n", 5, true, false},
       {"5\nhello\r\n0\r\n\r\n", 0, false, true},
       {"5;a=b\r\nhello\r\n0\r\n\r\n", 0, false, true},
       {"5 \r\nhello\r\n0\r\n\r\n", 0, false, true},
       {"0x5\r\nhello\r\n0\r\n\r\n", 0, false, true},
       {"+5\r\nhello\r\n0\r\n\r\n", 0, false, true},
       {"\r\nhello", 0, false, true},
       {"5\r\nhelloX\r\n", 0, false, true},
       {"0\r\nTrailer: x\r\n\r\n", 0, false, true},
       {"ffffffffffffffff\r\n", 0, false, true}};
  for (const auto& r : rows) {
    body_meter whole{{true, 0}};
    BOOST_TEST(whole.take(r.bytes) == r.body, r.bytes);
    BOOST_TEST(whole.is_done() == r.done, r.bytes);
    BOOST_TEST(whole.is_bad() == r.bad, r.bytes);
    body_meter bytewise{{true, 0}};
    for (const char c : r.bytes)
      bytewise.take({&c, 1});
    BOOST_TEST(bytewise.is_done() == r.done, r.bytes);
    BOOST_TEST(bytewise.is_bad() == r.bad, r.bytes);
  }
  body_meter counted{{false, 3}};
  BOOST_TEST(counted.take("abcdef") == 3u);
  BOOST_TEST(counted.is_done());
  BOOST_TEST((body_meter{{false, 0}}.is_done()));
}

BOOST_AUTO_TEST_SUITE_END()
