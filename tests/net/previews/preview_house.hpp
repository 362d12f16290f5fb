#pragma once

// The server inside is a script on loopback, the sandbox is one in memory.
#include "net/previews/previews.hpp"
#include "tests/support/http/http_server.hpp"
#include "tests/support/http/scripted_server.hpp"

#include <functional>
#include <mutex>
#include <thread>

namespace troupe::test {

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

inline scripted_server::script says(std::shared_ptr<heard> told,
                                    std::string answer) {
  return [told, answer = std::move(answer)](peer& p, int) {
    told->add(p.read_request());
    p.write(answer);
  };
}

inline std::string ok(const std::string& body, const std::string& fields = {}) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size())
    + "\r\n" + fields + "\r\n" + body;
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

/// Until something is so, or too long.
inline bool until(const std::function<bool()>& so) {
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

} // namespace troupe::test
