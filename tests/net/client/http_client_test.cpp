#include "tests/net/client/client_fixture.hpp"
#include "tests/support/http/metrics_check.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace troupe;
using namespace troupe::net;
using namespace std::chrono_literals;
using troupe::test::always;
using troupe::test::ok;
using troupe::test::peer;
using troupe::test::scripted_server;
namespace http = boost::beast::http;

namespace {

/// A PEM file that goes away with the test.
struct pem_file {
  std::filesystem::path path = std::filesystem::temp_directory_path()
    / ("troupe-ca-" + std::to_string(::getpid()));
  explicit pem_file(const std::string& text) { std::ofstream{path} << text; }
  ~pem_file() { std::filesystem::remove(path); }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(http_clients, test::client_fixture)

BOOST_AUTO_TEST_CASE(uses_one_connection_for_many_requests) {
  scripted_server server{always(ok)};
  for (int i = 0; i < 5; ++i) {
    auto got = send(request(server));
    BOOST_REQUIRE(got.answer.has_value());
    BOOST_TEST(got.answer->body == "ok");
  }
  BOOST_TEST(server.connections() == 1);
  BOOST_TEST(client->counters().connections_reused == 4u);
}

BOOST_AUTO_TEST_CASE(opens_a_new_connection_when_the_kept_one_is_gone) {
  scripted_server server{[](peer& p, int) {
    p.read_request();
    p.write(ok); // and closes
  }};
  auto r = request(server);
  r.idempotent = true; // the close may cross the second request
  BOOST_TEST(send(r).answer.has_value());
  BOOST_TEST(send(r).answer.has_value());
  BOOST_TEST(server.connections() == 2);
}

BOOST_AUTO_TEST_CASE(counts_for_operators_what_it_does) {
  scripted_server server{always(ok)};
  BOOST_TEST(send(request(server)).answer.has_value());
  BOOST_TEST(send(request(server)).answer.has_value());
  auto text = client_metrics(client->counters());
  for (const auto& problem : test::metrics_check{}.problems(text))
    BOOST_ERROR(problem);
  for (auto line : {"\ntroupe_client_requests_total 2\n",
                    "\ntroupe_client_connections_opened_total 1\n",
                    "\ntroupe_client_connections_reused_total 1\n",
                    "\ntroupe_client_retries_total 0\n"})
    BOOST_TEST(text.find(line) != text.npos, line);
}

BOOST_AUTO_TEST_CASE(sends_what_it_was_given_and_the_prefix) {
  std::string seen;
  scripted_server server{[&](peer& p, int) {
    seen = p.read_request();
    p.write(ok);
  }};
  auto r = request(server);
  r.service.prefix = "/api";
  r.target = "/sandboxes?x=1";
  r.method = http::verb::post;
  r.headers.set("X-API-Key", "k");
  r.body = "{}";
  send(r);
  BOOST_TEST(seen.starts_with("POST /api/sandboxes?x=1 HTTP/1.1\r\n"));
  BOOST_TEST(seen.find("X-API-Key: k\r\n") != std::string::npos);
  BOOST_TEST(seen.find("Host: 127.0.0.1:") != std::string::npos);
  BOOST_TEST(seen.ends_with("\r\n\r\n{}"));
}

BOOST_AUTO_TEST_CASE(holds_the_deadline_against_a_trickle) {
  scripted_server server{[](peer& p, int) {
    p.read_request();
    p.write("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n");
    while (p.write("x")) { // a byte whenever the socket takes one
    }
  }};
  auto r = request(server);
  r.deadline = std::chrono::steady_clock::now() + 200ms;
  r.max_body_bytes = 1u << 30;
  auto got = send(r);
  BOOST_REQUIRE(!got.answer.has_value());
  BOOST_TEST((got.answer.error().code == ec::timeout));
  BOOST_TEST(got.may_have_acted);
}

BOOST_AUTO_TEST_CASE(refuses_a_reply_over_its_bound) {
  scripted_server server{
    always("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc")};
  auto r = request(server);
  r.max_body_bytes = 2;
  BOOST_TEST(!send(r).answer.has_value());
}

BOOST_AUTO_TEST_CASE(does_not_take_a_short_body_for_success) {
  for (auto reply : {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
                     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                     "5\r\nabc",
                     "HTTP/1.1 200 OK\r\nContent-Le", "", "garbage\r\n\r\n"}) {
    scripted_server server{[reply](peer& p, int) {
      p.read_request();
      p.write(reply);
    }};
    BOOST_TEST(!send(request(server)).answer.has_value(), reply);
  }
}

BOOST_AUTO_TEST_CASE(bounds_headers) {
  scripted_server server{[](peer& p, int) {
    p.read_request();
    p.write("HTTP/1.1 200 OK\r\n");
    while (p.write("X-More: " + std::string(1000, 'x') + "\r\n")) {
    }
  }};
  BOOST_TEST(!send(request(server)).answer.has_value());
}

BOOST_AUTO_TEST_CASE(repeats_a_refusal_and_honours_retry_after) {
  scripted_server server{[n = 0](peer& p, int) mutable {
    while (!p.read_request().empty())
      p.write(n++ < 2 ? "HTTP/1.1 503 Busy\r\nRetry-After: 0\r\n"
                        "Content-Length: 0\r\nConnection: close\r\n\r\n"
                      : ok);
  }};
  auto r = request(server);
  r.method = http::verb::post;
  auto got = send(r);
  BOOST_REQUIRE(got.answer.has_value());
  BOOST_TEST(got.tries == 3);
  BOOST_TEST(got.answer->status == 200u);
}

BOOST_AUTO_TEST_CASE(gives_up_when_retry_after_is_beyond_the_deadline) {
  scripted_server server{
    always("HTTP/1.1 429 Slow down\r\nRetry-After: 3600\r\n"
           "Content-Length: 0\r\n\r\n")};
  auto got = send(request(server));
  BOOST_REQUIRE(got.answer.has_value());
  BOOST_TEST(got.answer->status == 429u);
  BOOST_TEST(got.tries == 1);
}

BOOST_AUTO_TEST_CASE(never_repeats_what_may_have_been_done) {
  scripted_server server{[](peer& p, int) {
    p.read_request();
    p.reset();
  }};
  auto r = request(server);
  r.method = http::verb::post;
  auto got = send(r);
  BOOST_TEST(!got.answer.has_value());
  BOOST_TEST(got.may_have_acted);
  BOOST_TEST(server.connections() == 1);
  r.idempotent = true;
  send(r);
  BOOST_TEST(server.connections() == 1 + options.retry.tries);
}

BOOST_AUTO_TEST_CASE(says_that_nothing_was_sent_when_nobody_listens) {
  auto port = scripted_server{always(ok)}.port(); // and gone
  client_request r;
  r.service = {false, "127.0.0.1", port, ""};
  r.deadline = std::chrono::steady_clock::now() + 5s;
  auto got = send(r);
  BOOST_TEST(!got.answer.has_value());
  BOOST_TEST(!got.may_have_acted);
  BOOST_TEST(got.tries == 4);
}

BOOST_AUTO_TEST_CASE(follows_no_redirect) {
  scripted_server server{
    always("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n"
           "Content-Length: 0\r\n\r\n")};
  auto got = send(request(server));
  BOOST_REQUIRE(got.answer.has_value());
  BOOST_TEST(got.answer->status == 302u);
}

BOOST_AUTO_TEST_CASE(asks_the_rule_about_the_address_it_connects_to) {
  scripted_server server{always(ok)};
  auto r = request(server);
  r.service.host = "localhost";
  r.rule = is_public_address;
  auto got = send(r);
  BOOST_REQUIRE(!got.answer.has_value());
  BOOST_TEST((got.answer.error().code == ec::denied));
  BOOST_TEST(server.connections() == 0);
}

BOOST_AUTO_TEST_CASE(streams_in_both_directions) {
  std::string seen;
  scripted_server server{[&](peer& p, int) {
    seen = p.read_request();
    p.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            "3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n");
  }};
  auto r = request(server);
  r.method = http::verb::put;
  r.body_pieces = [n = 0]() mutable -> std::optional<std::string> {
    if (n == 2)
      return {};
    return n++ == 0 ? "one" : "two";
  };
  std::string got;
  stream_reader reader;
  reader.data = [&](std::string_view bytes) {
    got += bytes;
    return true;
  };
  auto done = send(r, reader);
  BOOST_REQUIRE(done.answer.has_value());
  BOOST_TEST(got == "abcdef");
  BOOST_TEST(done.answer->body.empty());
  BOOST_TEST(seen.find("3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(is_called_off_in_the_middle) {
  client_request r;
  r.service = {false, "127.0.0.1", 0, ""};
  r.deadline = std::chrono::steady_clock::now() + 5s;
  r.abort = std::make_shared<cancellation>();
  scripted_server server{[this, abort = r.abort](peer& p, int) {
    p.read_request();
    boost::asio::post(io, [abort] { abort->cancel(); });
    p.read_request(); // until the client goes away
  }};
  r.service.port = server.port();
  auto got = send(r);
  BOOST_TEST(!got.answer.has_value());
  BOOST_TEST(got.may_have_acted);
  BOOST_TEST(got.tries == 1);
}

BOOST_AUTO_TEST_CASE(verifies_the_certificate_and_the_name) {
  auto good = test::make_certificate("127.0.0.1");
  pem_file trusted{good.pem};
  scripted_server server{always(ok), good.pem, good.key_pem};
  auto r = request(server);
  r.service.tls = true;
  auto refused = send(r);
  BOOST_REQUIRE(!refused.answer.has_value());
  BOOST_TEST(refused.answer.error().text.find("certificate")
             != std::string::npos);
  BOOST_TEST(!refused.may_have_acted);
  options.ca_file = trusted.path.string();
  client.reset();
  BOOST_TEST(send(r).answer.has_value());
  r.service.host = "localhost"; // the same place by a name it has no right to
  BOOST_TEST(!send(r).answer.has_value());
}

BOOST_AUTO_TEST_CASE(refuses_an_expired_certificate) {
  auto old = test::make_certificate("127.0.0.1", -5);
  pem_file trusted{old.pem};
  scripted_server server{always(ok), old.pem, old.key_pem};
  options.ca_file = trusted.path.string();
  auto r = request(server);
  r.service.tls = true;
  BOOST_TEST(!send(r).answer.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(client_parts)

BOOST_AUTO_TEST_CASE(reads_base_urls_and_refuses_the_rest) {
  auto u = parse_base_url("https://app.daytona.io/api/");
  BOOST_REQUIRE(u.has_value());
  BOOST_TEST(u->prefix == "/api");
  BOOST_TEST(u->authority() == "app.daytona.io");
  BOOST_TEST(parse_base_url("http://[::1]:8080")->host == "::1");
  BOOST_TEST(parse_base_url("http://[::1]:8080")->authority() == "[::1]:8080");
  for (auto bad :
       {"", "ftp://x", "https://", "https://u:p@h", "https://h:0",
        "https://h:", "https://h:99999", "https://h/?q", "https://h#f",
        "https://a b", "https://::1", "https://[::1", "https://h\r\nX: y"})
    BOOST_TEST(!parse_base_url(bad).has_value(), bad);
}

BOOST_AUTO_TEST_CASE(escapes_what_would_leave_its_segment) {
  BOOST_TEST(percent_encode("a/../b?c=d e") == "a%2F..%2Fb%3Fc%3Dd%20e");
}

BOOST_AUTO_TEST_CASE(reads_retry_after_in_both_forms_and_no_nonsense) {
  auto now = std::chrono::system_clock::from_time_t(1'000'000'000);
  BOOST_TEST((parse_retry_after("7", now) == 7'000ms));
  BOOST_TEST(
    (parse_retry_after("Sun, 09 Sep 2001 01:46:50 GMT", now) == 10'000ms));
  for (auto bad : {"", "-1", "1000000000", "soon", "1.5", "1e3"})
    BOOST_TEST(!parse_retry_after(bad, now).has_value(), bad);
}

BOOST_AUTO_TEST_CASE(backs_off_with_jitter_and_within_the_deadline) {
  retry_policy p;
  BOOST_TEST((retry_delay(p, 2, 0.5, {}, 60s) == 250ms));
  BOOST_TEST((retry_delay(p, 3, 0.5, {}, 60s) == 500ms));
  BOOST_TEST((retry_delay({50}, 40, 0.5, {}, 60s) == 4'000ms));
  BOOST_TEST(!retry_delay(p, 5, 0.5, {}, 60s).has_value());
  BOOST_TEST(!retry_delay(p, 2, 0.5, {}, 100ms).has_value());
  BOOST_TEST((retry_delay(p, 2, 0.5, 9s, 60s) == 9'000ms));
}

BOOST_AUTO_TEST_CASE(knows_which_addresses_are_public) {
  auto is_open = [](const char* text) {
    return is_public_address(boost::asio::ip::make_address(text));
  };
  BOOST_TEST(is_open("8.8.8.8"));
  BOOST_TEST(is_open("2606:4700::1111"));
  for (auto no : {"127.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1"})
    BOOST_TEST(!is_open(no), no);
}

BOOST_AUTO_TEST_SUITE_END()
