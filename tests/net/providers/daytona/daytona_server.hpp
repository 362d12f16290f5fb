#pragma once

#include "net/providers/daytona/calls.hpp"
#include "net/providers/daytona/client.hpp"
#include "net/providers/daytona/provider.hpp"
#include "runtime/sandboxes/sandbox_for_run.hpp"
#include "tests/support/await_here.hpp"
#include "tests/support/providers/fake_daytona.hpp"
#include "tests/support/providers/remote_contract.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>

namespace troupe::test {

/// A sandbox of Daytona's in which calls are made one by one.
class daytona_house {
public:
  explicit daytona_house(net::daytona_options o)
      : http_{std::make_shared<net::http_client>(io_.get_executor(),
                                                 net::client_options{})},
        client_{http_, o, net::parse_base_url(o.api_url).value()},
        where_{make_daytona(http_, o).value()} {
    auto wanted = sandbox_for(shell_run(backend_kind::daytona, "true"));
    wanted.tag = "for-calls";
    wanted.lifetime = std::chrono::seconds{60};
    auto made = await_here(io_, where_->create(wanted, scope_));
    BOOST_REQUIRE(made.sandbox.has_value());
    box_ = *made.sandbox;
  }
  ~daytona_house() {
    BOOST_TEST(await_here(io_, where_->destroy(box_, scope_)).has_value());
  }
  daytona_house(const daytona_house&) = delete;
  daytona_house& operator=(const daytona_house&) = delete;

  result<net::client_response> ask(net::daytona::call what) {
    return await_here(io_, client_.perform(box_, std::move(what), scope_));
  }
  /// The body of an answer that has to be good.
  std::string good(const net::daytona::call& what) {
    auto reply = ask(what);
    BOOST_TEST(reply.has_value(),
               what.doing << ": " << (reply ? "" : reply.error().text));
    return reply ? reply->body : std::string{};
  }
  bool reconnect() {
    return await_here(io_,
                      where_->reconnect(box_, std::chrono::seconds{60}, scope_))
      .has_value();
  }
  /// A repository elsewhere, as far as git can tell.
  void make_origin(const std::string& path) {
    good(net::daytona::execute("git init -q --bare -b main " + path, "", {},
                               std::chrono::seconds{30}));
  }

private:
  boost::asio::io_context io_{1};
  std::shared_ptr<net::http_client> http_;
  net::daytona_client client_;
  std::shared_ptr<sandbox_provider> where_;
  call_scope scope_{std::chrono::steady_clock::now() + std::chrono::seconds{60},
                    nullptr};
  sandbox_handle box_;
};

/// What both sides do in `here`, with a repository elsewhere.
inline void clone_and_push(daytona_house& house,
                           const net::daytona::git_login& login,
                           const std::string& folder) {
  using namespace net::daytona;
  const auto origin = folder + "/origin.git";
  const auto here = folder + "/here";
  house.make_origin(origin);
  for (const auto& what :
       {git_clone(origin, here, "", login), upload({{here + "/a.txt", "a\n"}}),
        git_add(here, {"a.txt"}),
        git_commit(here, "a first one", "Troupe", "trial@example.org"),
        git_push(here, login), git_pull(here, login),
        git_clone(origin, folder + "/branch", "main")})
    house.good(what);
  BOOST_TEST(house.good(download(folder + "/branch/a.txt")) == "a\n");
}

} // namespace troupe::test
