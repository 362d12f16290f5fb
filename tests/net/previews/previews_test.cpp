// Servers in sandboxes as clients see them: what is passed on, and how.
#include "tests/net/previews/preview_house.hpp"

#include <future>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(previews_of_ports)

BOOST_AUTO_TEST_CASE(pass_a_request_on_without_what_is_ours) {
  auto told = std::make_shared<heard>();
  preview_house h{says(told, ok("hello", "Set-Cookie: a=b\r\n"))};
  auto a = h.get(h.path("/proxy/a%20b/c?x=%2F&troupe_token=z&y"),
                 "Cookie: session=1\r\nX-Forwarded-For: 1.2.3.4\r\n");
  BOOST_TEST(a.status == 403); // it says that it has a token
  a = h.get(h.path("/proxy/a%20b/c?x=%2F&y"),
            "Cookie: session=1\r\nX-Forwarded-For: 1.2.3.4\r\n");
  BOOST_TEST(a.status == 200);
  BOOST_TEST(a.body == "hello");
  BOOST_TEST(!a.fields.contains("set-cookie"));
  BOOST_TEST(a.fields["content-security-policy"]
             == "sandbox allow-scripts allow-forms");
  BOOST_TEST(a.fields["connection"] == "close");
  const auto said = told->last();
  BOOST_TEST(said.starts_with("GET /a%20b/c?x=%2F&y HTTP/1.1\r\n"), said);
  BOOST_TEST(has(said, "host: localhost:3000\r\n"));
  BOOST_TEST(has(said, "x-forwarded-for: 127.0.0.1\r\n"));
  BOOST_TEST(has(said, "x-forwarded-prefix: " + h.path("/proxy") + "\r\n"));
  BOOST_TEST(!has(said, "session"));
  BOOST_TEST(!has(said, "1.2.3.4"));
  BOOST_TEST(h.get(h.path("/proxy")).status == 200);
  BOOST_TEST(told->last().starts_with("GET / HTTP/1.1\r\n"));
}

BOOST_AUTO_TEST_CASE(pass_a_body_on_and_nothing_behind_it) {
  auto told = std::make_shared<heard>();
  scripted_server::script script = [told](peer& p, int) {
    told->add(p.read_request());
    p.write(ok("done"));
    if (const auto more = p.read_request(); !more.empty())
      told->add(more);
  };
  preview_house h{script};
  const auto head = "POST " + h.path("/proxy/x")
    + " HTTP/1.1\r\n"
      "Host: localhost\r\nContent-Type: text/x\r\n";
  const std::string second = "GET /secret HTTP/1.1\r\nHost: x\r\n\r\n";
  for (const auto& body : {std::string{"Content-Length: 5\r\n\r\nhello"},
                           std::string{"Transfer-Encoding: chunked\r\n\r\n"
                                       "5\r\nhello\r\n0\r\n\r\n"}}) {
    raw_client c{h.port()};
    c.send(head + body + second);
    auto a = c.read();
    BOOST_TEST(a.status == 200);
    BOOST_TEST(a.body == "done");
    BOOST_TEST(c.ends()); // one request, one answer
    BOOST_TEST(c.rest() == "");
    BOOST_TEST(told->last().ends_with(body.substr(body.find("\r\n\r\n"))));
  }
  BOOST_TEST(told->count() == 2u);
}

BOOST_AUTO_TEST_CASE(pass_a_large_body_on_as_fast_as_it_is_taken) {
  const std::string megabytes(8u << 20, 'x');
  auto told = std::make_shared<heard>();
  preview_house h{[told, &megabytes](peer& p, int) {
    told->add(std::to_string(p.read_request().size()));
    p.write(ok(megabytes));
  }};
  raw_client c{h.port()};
  c.send("PUT " + h.path("/proxy/x")
         + " HTTP/1.1\r\nHost: localhost\r\n"
           "Content-Length: "
         + std::to_string(megabytes.size()) + "\r\n\r\n" + megabytes);
  auto a = c.read();
  BOOST_TEST(a.status == 200);
  BOOST_TEST(a.whole);
  BOOST_TEST((a.body == megabytes));
  BOOST_TEST(std::stoul(told->last()) > megabytes.size());
}

BOOST_AUTO_TEST_CASE(refuse_a_body_that_others_would_read_otherwise) {
  auto told = std::make_shared<heard>();
  preview_house h{says(told, ok("done"))};
  raw_client c{h.port()};
  c.send("POST " + h.path("/proxy/x")
         + " HTTP/1.1\r\nHost: localhost\r\n"
           "Transfer-Encoding: chunked\r\n\r\n5;x=\n\r\nhello\r\n0\r\n\r\n");
  BOOST_TEST(c.read().status == 400);
  BOOST_TEST(c.ends());
  BOOST_TEST(told->last() == ""); // only its head has come
}

BOOST_AUTO_TEST_CASE(take_one_answer_and_drop_what_follows) {
  auto told = std::make_shared<heard>();
  preview_house h{says(told, ok("one") + ok("two"))};
  raw_client c{h.port()};
  c.send("GET " + h.path("/proxy/") + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  BOOST_TEST(c.read().body == "one");
  BOOST_TEST(c.ends());
  BOOST_TEST(c.rest() == "");
}

BOOST_AUTO_TEST_CASE(pass_chunks_and_endless_answers_on_as_they_are) {
  auto told = std::make_shared<heard>();
  preview_house chunked{
    says(told,
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
         "5\r\nhello\r\n0\r\n\r\n")};
  BOOST_TEST(chunked.get(chunked.path("/proxy/")).body == "hello");
  preview_house endless{says(told,
                             "HTTP/1.1 103 Early\r\nLink: x\r\n\r\n"
                             "HTTP/1.0 200 OK\r\n\r\nuntil the end")};
  raw_client c{endless.port()};
  c.send("GET " + endless.path("/proxy/")
         + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  BOOST_TEST(c.ends());
  BOOST_TEST(has(c.rest(), "HTTP/1.1 200 OK\r\n"));
  BOOST_TEST(!has(c.rest(), "103"));
  BOOST_TEST(c.rest().ends_with("\r\n\r\nuntil the end"));
}

BOOST_AUTO_TEST_CASE(say_what_a_server_does_wrong) {
  for (const auto& answer :
       {std::string{}, std::string{"hello\r\n\r\n"},
        std::string{"HTTP/1.1 200 OK\r\nbroken\r\n\r\n"},
        std::string{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n"},
        std::string{"HTTP/1.1 101 Oh\r\nUpgrade: x\r\n\r\n"},
        "HTTP/1.1 200 OK\r\nX: " + std::string(80u << 10, 'x')}) {
    auto told = std::make_shared<heard>();
    preview_house h{says(told, answer)};
    auto a = h.get(h.path("/proxy/"));
    BOOST_TEST(a.status == 502, answer.substr(0, 40));
    BOOST_TEST(has(a.body, "bad_answer"), a.body);
  }
  preview_house h{[](peer&, int) {}};
  h.sandboxes.server = 0;
  auto a = h.get(h.path("/proxy/"));
  BOOST_TEST(a.status == 502);
  BOOST_TEST(has(a.body, "nothing_listens"));
  for (const auto& [problem, status] :
       {std::pair{sandbox_problem::sandbox_not_running, 502},
        std::pair{sandbox_problem::sandbox_paused, 503},
        std::pair{sandbox_problem::sandbox_ended, 404},
        std::pair{sandbox_problem::unsupported_here, 501}}) {
    h.sandboxes.next_failure
      = sandbox_error{problem, ec::conflict, "the reason"};
    BOOST_TEST(h.get(h.path("/proxy/")).status == status);
  }
  for (const char* port : {"0", "65536", "03000", "-1", "3000x", "+1"})
    BOOST_TEST(
      h.get("/v1/sandboxes/" + h.id + "/ports/" + port + "/proxy/").status
        == 404,
      port);
}

BOOST_AUTO_TEST_CASE(end_an_answer_that_is_shorter_than_it_says) {
  auto told = std::make_shared<heard>();
  preview_house h{
    says(told, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")};
  auto a = h.get(h.path("/proxy/"));
  BOOST_TEST(a.status == 200);
  BOOST_TEST(!a.whole);
}

BOOST_AUTO_TEST_CASE(go_over_to_another_protocol_when_the_server_agrees) {
  auto told = std::make_shared<heard>();
  preview_house h{[told](peer& p, int n) {
    told->add(p.read_request());
    if (n > 0) {
      p.write(ok("no"));
      told->add(p.read_request());
      return;
    }
    p.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
            "Upgrade: echo\r\n\r\nhi ");
    std::string line;
    // What was sent ahead of the answer comes now; an empty line ends a turn.
    while (!(line = p.read_request()).empty())
      p.write(line);
  }};
  const auto head = "GET " + h.path("/proxy/ws")
    + " HTTP/1.1\r\n"
      "Host: localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n";
  raw_client c{h.port()};
  c.send(head + "ahead\r\n\r\n");
  BOOST_TEST(c.sees("hi ahead\r\n\r\n"));
  BOOST_TEST(has(c.rest(), "HTTP/1.1 101 Switching Protocols\r\n"));
  BOOST_TEST(has(c.rest(), "Upgrade: echo\r\n"));
  c.send("later\r\n\r\n");
  BOOST_TEST(c.sees("later\r\n\r\n"));
  c.finish_sending();
  BOOST_TEST(c.ends());
  // One that does not agree never sees what was sent ahead.
  raw_client other{h.port()};
  other.send(head + "GET /secret HTTP/1.1\r\n\r\n");
  BOOST_TEST(other.read().body == "no");
  BOOST_TEST(other.ends());
  BOOST_TEST(!has(told->last(), "secret"));
}

BOOST_AUTO_TEST_CASE(carry_any_bytes_through_a_tunnel) {
  const std::string blob(1u << 20, '\0');
  preview_house h{[&blob](peer& p, int) {
    const auto came = p.read_request(); // up to an empty line
    p.write(came);
    p.write(blob);
  }};
  BOOST_TEST(h.get(h.path("/tunnel")).status == 426);
  raw_client c{h.port()};
  c.send("GET " + h.path("/tunnel")
         + " HTTP/1.1\r\nHost: localhost\r\n"
           "Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n");
  BOOST_TEST(c.read().status == 101);
  c.send("\x01\x02 bytes\r\n\r\n");
  BOOST_TEST(c.ends());
  BOOST_TEST((c.rest() == "\x01\x02 bytes\r\n\r\n" + blob));
}

BOOST_AUTO_TEST_CASE(end_the_servers_connection_with_the_clients) {
  std::promise<bool> ended;
  preview_house h{[&ended](peer& p, int) {
    p.read_request();
    p.write("HTTP/1.1 200 OK\r\n\r\nfirst");
    p.read_request();
    // Written to for as long as somebody takes it.
    while (p.write("more"))
      ;
    ended.set_value(true);
  }};
  {
    raw_client c{h.port()};
    c.send("GET " + h.path("/proxy/") + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    BOOST_TEST(c.sees("first"));
    linger now{1, 0}; // the hard way
    ::setsockopt(c.descriptor(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }
  BOOST_TEST((ended.get_future().wait_for(std::chrono::seconds{20})
              == std::future_status::ready));
}

BOOST_AUTO_TEST_CASE(have_as_many_connections_as_they_may) {
  net::preview_options one;
  one.connections_per_port = 1;
  std::promise<void> go;
  auto gone = go.get_future().share();
  preview_house h{[gone](peer& p, int) {
                    p.read_request();
                    gone.wait();
                    p.write(ok("done"));
                  },
                  one};
  const auto request
    = "GET " + h.path("/proxy/") + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  raw_client first{h.port()};
  first.send(request);
  const bool came = until([&] { return h.inside.connections() == 1; });
  BOOST_TEST(came);
  BOOST_TEST(h.get(h.path("/proxy/")).status == 503);
  go.set_value();
  BOOST_TEST(first.read().body == "done");
  BOOST_TEST(first.ends());
  const bool free
    = until([&] { return h.get(h.path("/proxy/")).status == 200; });
  BOOST_TEST(free);
}

BOOST_AUTO_TEST_SUITE_END()
