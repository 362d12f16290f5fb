// B51: what names lead to. Whoever owns a name may say something else each
// time; the rule is for the address that is connected to.
#include "net/providers/e2b/provider.hpp"
#include "tests/net/client/client_fixture.hpp"
#include "tests/support/providers/remote_contract.hpp"

#include <netdb.h>

#include <atomic>
#include <future>

using namespace troupe;
using namespace troupe::net;
using namespace std::chrono_literals;
using boost::asio::ip::make_address;
using boost::asio::ip::tcp;
using troupe::test::always;
using troupe::test::ok;
using troupe::test::peer;
using troupe::test::scripted_server;

namespace {

/// A zone whose answers follow each other; the last one stays.
struct shifty_zone {
  explicit shifty_zone(std::vector<std::vector<std::string>> addresses)
      : said{std::move(addresses)} {}

  resolver::answer operator()(std::uint16_t port) {
    auto n = std::min<std::size_t>(asked++, said.size() - 1);
    resolver::answer out;
    for (const auto& each : said[n])
      out.found.push_back(tcp::endpoint{make_address(each), port});
    return out;
  }

  const std::vector<std::vector<std::string>> said;
  std::atomic<std::size_t> asked{0};
};

struct named_fixture : test::client_fixture {
  client_request to_name(std::uint16_t port) {
    client_request r;
    r.service = {false, "tenant.example", port, ""};
    r.deadline = std::chrono::steady_clock::now() + 5s;
    r.tries = 1;
    // The house is 127.0.0.1 here, and all the world is 127.0.0.2.
    r.rule = [](const boost::asio::ip::address& a) {
      return a == make_address("127.0.0.1");
    };
    return r;
  }
  void use(shifty_zone& zone) {
    options.names
      = [&zone](const std::string&, std::uint16_t port) { return zone(port); };
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(names_of_services, named_fixture)

BOOST_AUTO_TEST_CASE(are_asked_once_for_what_is_checked_and_connected_to) {
  scripted_server server{always(ok)};
  shifty_zone zone{{{"127.0.0.1"}, {"127.0.0.2"}}};
  use(zone);
  BOOST_TEST(send(to_name(server.port())).answer.has_value());
  BOOST_TEST(zone.asked == 1u); // nobody could answer otherwise in between
  // A connection that is kept needs no name any more.
  BOOST_TEST(send(to_name(server.port())).answer.has_value());
  BOOST_TEST(zone.asked == 1u);
}

BOOST_AUTO_TEST_CASE(that_lead_elsewhere_later_are_refused_then) {
  scripted_server server{[](peer& p, int) {
    p.read_request();
    p.write("HTTP/1.1 200 OK\r\nConnection: close\r\n"
            "Content-Length: 2\r\n\r\nok");
  }};
  shifty_zone zone{{{"127.0.0.1"}, {"127.0.0.2"}, {"127.0.0.1"}}};
  use(zone);
  BOOST_TEST(send(to_name(server.port())).answer.has_value());
  auto second = send(to_name(server.port()));
  BOOST_REQUIRE(!second.answer.has_value());
  BOOST_TEST((second.answer.error().code == ec::denied));
  BOOST_TEST(!second.may_have_acted);
  BOOST_TEST(server.connections() == 1);
  BOOST_TEST(send(to_name(server.port())).answer.has_value());
  BOOST_TEST(zone.asked == 3u);
}

BOOST_AUTO_TEST_CASE(with_allowed_and_other_addresses_lead_to_the_allowed) {
  scripted_server server{always(ok)};
  shifty_zone zone{{{"127.0.0.2", "169.254.169.254", "127.0.0.1", "::1"}}};
  use(zone);
  auto got = send(to_name(server.port()));
  BOOST_REQUIRE(got.answer.has_value());
  BOOST_TEST(server.connections() == 1);
}

BOOST_AUTO_TEST_CASE(that_lead_nowhere_say_so) {
  for (auto status : {EAI_NONAME, EAI_AGAIN, EAI_FAIL}) {
    client.reset();
    options.names = [status](const std::string&, std::uint16_t) {
      return resolver::answer{status, {}};
    };
    auto got = send(to_name(1));
    BOOST_REQUIRE(!got.answer.has_value());
    BOOST_TEST(!got.may_have_acted);
    const auto& text = got.answer.error().text;
    BOOST_TEST(text.find("tenant.example") != text.npos, text);
    BOOST_TEST(text.find(::gai_strerror(status)) != text.npos, text);
  }
}

BOOST_AUTO_TEST_CASE(that_nobody_answers_for_end_with_the_deadline) {
  std::promise<void> end;
  auto over = end.get_future().share();
  options.names = [over](const std::string&, std::uint16_t) {
    over.wait(); // as getaddrinfo may, for as long as it likes
    return resolver::answer{EAI_AGAIN, {}};
  };
  auto r = to_name(1);
  r.deadline = std::chrono::steady_clock::now() + 200ms;
  auto got = send(r);
  end.set_value();
  BOOST_REQUIRE(!got.answer.has_value());
  BOOST_TEST((got.answer.error().code == ec::timeout));
}

/// Through a provider: today's zone of a service that the operator named.
BOOST_AUTO_TEST_CASE(do_not_lead_a_run_into_the_house) {
  scripted_server server{always(ok)};
  e2b_options o;
  o.api_key = secret{"k-1"};
  o.api_url = "http://api.e2b.example:" + std::to_string(server.port());
  client_options how;
  how.names = [](const std::string&, std::uint16_t port) {
    return resolver::answer{
      0, {{make_address("127.0.0.1"), port}, {make_address("10.0.0.1"), port}}};
  };
  test::remote_side side;
  side.open([o](auto c) { return make_e2b(c, o); }, {}, how);
  auto outcome
    = side.run(test::python_run(backend_kind::e2b, "def f():\n  return 1\n"));
  BOOST_REQUIRE(!outcome.answer.has_value());
  BOOST_TEST(!outcome.may_have_started);
  const auto& text = outcome.answer.error().text;
  BOOST_TEST(text.find("private addresses only") != text.npos, text);
  BOOST_TEST(server.connections() == 0);
  BOOST_TEST(side.leases->list(backend_kind::e2b).empty());
}

BOOST_AUTO_TEST_SUITE_END()
