// Servers in sandboxes as clients see them: by path, by host name, by tunnel.
// The server inside is a script on loopback; the sandbox is one in memory.
#include "net/previews/previews.hpp"
#include "runtime/engine/api_key.hpp"
#include "tests/support/http/http_server.hpp"
#include "tests/support/http/scripted_server.hpp"

#include <functional>
#include <future>
#include <mutex>
#include <thread>

using namespace troupe;
using test::peer;
using test::raw_answer;
using test::raw_client;
using test::scripted_server;

BOOST_AUTO_TEST_SUITE(previews_of_ports)

namespace {

/// What a server inside was told.
class heard {
public:
  void add(std::string text) {
    std::lock_guard lock{mutex_};
    all_.push_back(std::move(text));
  }
  std::string last() const {
    std::lock_guard lock{mutex_};
    return all_.empty() ? "" : all_.back();
  }
  std::size_t count() const {
    std::lock_guard lock{mutex_};
    return all_.size();
  }

private:
  mutable std::mutex mutex_;
  std::vector<std::string> all_;
};

scripted_server::script says(std::shared_ptr<heard> told, std::string answer) {
  return [told, answer = std::move(answer)](peer& p, int) {
    told->add(p.read_request());
    p.write(answer);
  };
}

std::string ok(const std::string& body, const std::string& fields = {}) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size())
    + "\r\n" + fields + "\r\n" + body;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

/// Until something is so, or too long.
bool until(const std::function<bool()>& so) {
  const auto limit
    = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (!so()) {
    if (std::chrono::steady_clock::now() > limit)
      return false;
    std::this_thread::yield();
  }
  return true;
}

/// An API, a listener for host names, and one sandbox whose ports lead to a
/// script.
struct preview_house {
  explicit preview_house(scripted_server::script script,
                         net::preview_options how = {}, bool needs_key = false)
      : inside{std::move(script)}, seen{std::make_shared<net::previews>(
                                     &sandboxes, engine, std::move(how))},
        api{engine, options(needs_key)}, pages{engine, page_options()} {
    net::api_options o;
    o.sandboxes = &sandboxes;
    o.ports = seen;
    net::add_api(api.routes(), engine, std::move(o));
    seen->add_host_routes(pages.routes());
    BOOST_REQUIRE(api.start());
    BOOST_REQUIRE(pages.start());
    seen->listens("http", pages.port());
    sandboxes.server = inside.port();
    caller who;
    who.organization = default_organization();
    sandboxes.create(who, {}, [this](auto made) { id = (*made)->id.str(); });
  }

  static net::server_options options(bool needs_key) {
    net::server_options o;
    o.listen = {"127.0.0.1:0"};
    o.threads = 1;
    if (needs_key)
      o.auth = net::auth_mode::required;
    return o;
  }
  static net::server_options page_options() {
    auto o = options(false);
    o.pages_of_tenants = true;
    return o;
  }

  std::uint16_t port() const { return api.port(); }
  raw_answer get(const std::string& path, const std::string& fields = {}) {
    return test::ask(port(), "GET", path, {}, fields);
  }
  raw_answer post(const std::string& path, const std::string& body) {
    return test::ask(port(), "POST", path, body);
  }
  std::string path(const std::string& rest) const {
    return "/v1/sandboxes/" + id + "/ports/3000" + rest;
  }
  std::string host() const { return "3000-" + id + ".localhost"; }
  /// What opening the port gives.
  json::object opened(const std::string& fields = {}) {
    auto a = test::ask(port(), "POST", path(""), "{}", fields);
    BOOST_REQUIRE_MESSAGE(a.status == 201, a.body);
    return json::parse_object(a.body).value();
  }
  std::string token(const std::string& fields = {}) {
    return std::string{opened(fields).at("token").as_string()};
  }
  /// To the listener for host names.
  raw_answer page(const std::string& target, const std::string& fields = {},
                  std::string name = {}) {
    raw_client c{pages.port()};
    c.send("GET " + target + " HTTP/1.1\r\nHost: "
           + (name.empty() ? host() : name) + "\r\n" + fields + "\r\n");
    return c.read();
  }

  scripted_server inside;
  test::fake_engine engine;
  test::fake_sandboxes sandboxes;
  net::previews_ptr seen;
  net::http_server api;
  net::http_server pages;
  std::string id;
};

} // namespace

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

// -- who may ------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(take_a_key_or_a_token_of_the_very_port) {
  auto told = std::make_shared<heard>();
  preview_house h{says(told, ok("in")), {}, true};
  auto key = make_api_key(default_organization(), "mine", 1);
  h.engine.add_key(key.record);
  auto foreign = make_api_key(organization_id::make(), "other", 7);
  h.engine.add_key(foreign.record);
  const auto bearer = [](const new_key& k) {
    return "Authorization: Bearer " + k.text.reveal() + "\r\n";
  };
  const auto proxy = h.path("/proxy/");
  const auto status = [&](const std::string& path, const std::string& fields) {
    return h.get(path, fields).status;
  };
  BOOST_TEST(status(proxy, "") == 401);
  BOOST_TEST(status(proxy, bearer(key)) == 200);
  BOOST_TEST(!has(told->last(), "troupe_")); // the key stays here
  BOOST_TEST(status(proxy, bearer(foreign)) == 404);
  const auto token = h.token(bearer(key));
  const auto field = "X-Troupe-Port-Token: " + token + "\r\n";
  BOOST_TEST(status(proxy, field) == 200);
  BOOST_TEST(!has(told->last(), token));
  BOOST_TEST(status(proxy + "?a=1&troupe_token=" + token, "") == 200);
  BOOST_TEST(told->last().starts_with("GET /?a=1 HTTP/1.1\r\n"));
  // Of another port, of another sandbox, wrong, empty.
  const auto other = "/v1/sandboxes/" + h.id + "/ports/3001/proxy/";
  BOOST_TEST(status(other, field) == 403);
  BOOST_TEST(
    status(proxy, "X-Troupe-Port-Token: " + std::string(64, '0') + "\r\n")
    == 403);
  BOOST_TEST(status(proxy, "X-Troupe-Port-Token: x\r\n") == 403);
  // A token opens nothing else of the API.
  BOOST_TEST(status("/v1/sandboxes", field) == 401);
  BOOST_TEST(test::ask(h.port(), "DELETE", h.path(""), {}, field).status
             == 401);
  auto closed = test::ask(h.port(), "DELETE", h.path(""), {}, bearer(key));
  BOOST_TEST(closed.status == 204);
  BOOST_TEST(status(proxy, field) == 403);
}

BOOST_AUTO_TEST_CASE(are_open_to_all_only_where_that_is_granted) {
  auto told = std::make_shared<heard>();
  preview_house closed{says(told, ok("in"))};
  BOOST_TEST(closed.post(closed.path(""), R"({"public":true})").status == 422);
  BOOST_TEST(closed.page("/").status == 403);
  net::preview_options granted;
  granted.public_ports = true;
  preview_house open{says(told, ok("in")), granted};
  auto a = open.post(open.path(""), R"({"public":true})");
  BOOST_TEST(a.status == 201);
  BOOST_TEST(
    !has(std::string{json::parse_object(a.body)->at("url").as_string()},
         "troupe_token"));
  BOOST_TEST(open.page("/").body == "in");
  BOOST_TEST(test::ask(open.port(), "DELETE", open.path("")).status == 204);
  BOOST_TEST(open.page("/").status == 403);
}

// -- host names ---------------------------------------------------------------

BOOST_AUTO_TEST_CASE(have_a_host_name_of_their_own) {
  auto told = std::make_shared<heard>();
  preview_house h{
    says(told, ok("page", "Set-Cookie: a=b; Domain=localhost\r\n"))};
  const auto url = std::string{h.opened().at("url").as_string()};
  const auto base = "http://" + h.host() + ":" + std::to_string(h.pages.port())
    + "/?troupe_token=";
  BOOST_TEST_REQUIRE(url.starts_with(base), url);
  const auto token = url.substr(base.size());
  // The token goes from the address into a cookie of this host.
  auto first = h.page("//deep?x=1&troupe_token=" + token);
  BOOST_TEST(first.status == 302);
  BOOST_TEST(first.fields["location"] == "/deep?x=1");
  BOOST_TEST(first.fields["set-cookie"]
             == "troupe_port=" + token + "; Path=/; HttpOnly; SameSite=Lax");
  BOOST_TEST(told->count() == 0u);
  auto second = h.page("/%2e/a//b?x=%00",
                       "Cookie: a=b; troupe_port=" + token
                         + "\r\nOrigin: http://other\r\n");
  BOOST_TEST(second.status == 200);
  BOOST_TEST(second.body == "page");
  BOOST_TEST(second.fields["set-cookie"] == "a=b");
  const auto said = told->last();
  BOOST_TEST(said.starts_with("GET /%2e/a//b?x=%00 HTTP/1.1\r\n"), said);
  BOOST_TEST(has(said, "host: " + h.host() + "\r\n"));
  BOOST_TEST(has(said, "Cookie: a=b\r\n"));
  BOOST_TEST(!has(said, token));
  BOOST_TEST(h.page("/?troupe_token=" + std::string(64, '0')).status == 403);
  BOOST_TEST(h.page("/").status == 403);
}

BOOST_AUTO_TEST_CASE(take_no_name_that_is_not_theirs) {
  auto told = std::make_shared<heard>();
  preview_house h{says(told, ok("page"))};
  const auto cookie = "Cookie: troupe_port=" + h.token() + "\r\n";
  BOOST_TEST(h.page("/", cookie).status == 200);
  BOOST_TEST(h.page("/", cookie, "3000-" + h.id + ".LOCALHOST:80").status
             == 200);
  for (const auto& name :
       {std::string{"localhost"}, std::string{"evil.example"},
        "3000-" + h.id + ".localhost.evil.example", "3000-" + h.id,
        "3000-" + h.id + "-localhost", h.id + ".localhost",
        "x.3000-" + h.id + ".localhost", "0-" + h.id + ".localhost",
        "03000-" + h.id + ".localhost", std::string{"3000-short.localhost"}})
    BOOST_TEST(h.page("/", cookie, name).status == 421, name);
  // Another port is another host, with tokens of its own.
  BOOST_TEST(h.page("/", cookie, "3001-" + h.id + ".localhost").status == 403);
  // Nothing of the API is here, nor what operators look at.
  for (const char* target : {"/v1/sandboxes", "/metrics", "/livez"})
    BOOST_TEST(h.page(target, cookie).body == "page", target);
}

BOOST_AUTO_TEST_CASE(keep_a_key_of_ours_and_pass_other_credentials_on) {
  auto told = std::make_shared<heard>();
  preview_house h{says(told, ok("page"))};
  auto key = make_api_key(default_organization(), "mine", 1);
  h.engine.add_key(key.record);
  BOOST_TEST(
    h.page("/", "Authorization: Bearer " + key.text.reveal() + "\r\n").status
    == 200);
  BOOST_TEST(!has(told->last(), "uthorization"));
  const auto cookie = "Cookie: troupe_port=" + h.token() + "\r\n";
  BOOST_TEST(h.page("/", cookie + "Authorization: Bearer theirs\r\n").status
             == 200);
  BOOST_TEST(has(told->last(), "Authorization: Bearer theirs\r\n"));
  auto config = make_api_key(default_organization(), "config", 2);
  h.engine.add_key(config.record);
  BOOST_TEST(
    h.page("/", "Authorization: Bearer " + config.text.reveal() + "\r\n").status
    == 403);
}

BOOST_AUTO_TEST_SUITE_END()
