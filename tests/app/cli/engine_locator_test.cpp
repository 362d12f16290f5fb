// Whom commands take for their engine: over TLS, beside strangers, and by names
// that the engine does not go by.
#include "tests/app/serving.hpp"
#include "tests/app/typed.hpp"
#include "tests/support/http/scripted_server.hpp"
#include "tests/support/http/test_authority.hpp"

using namespace troupe;

namespace {

struct fixture {
  temporary_folder place;
  // Not the data of the engines here: those would be found by it.
  std::string data = "--data-dir=" + (place.path / "elsewhere").string();

  outcome list_tools(std::vector<std::string> more) {
    more.insert(more.begin(), {"tool", "list", data});
    return run_program(std::move(more), place.path);
  }
};

/// "localhost:1234", whatever the scheme.
std::string authority_in(const std::string& greeting) {
  auto at = greeting.find("://");
  BOOST_TEST_REQUIRE(at != greeting.npos, greeting);
  return greeting.substr(at + 3, greeting.find('\n', at) - at - 3);
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(session_places, fixture)

BOOST_AUTO_TEST_CASE(trust_the_certificate_of_their_own_settings) {
  test::test_authority ours{place.path, "ours"};
  auto shown = ours.sign("served", "DNS:engine.example.org");
  std::vector<std::string> tls{"--http.tls-certificate=" + shown.certificate,
                               "--http.tls-key=" + shown.key};
  serving engine{place, tls};
  auto address = authority_in(engine.greeting());
  tls.push_back("--listen=" + address);
  auto listed = list_tools(tls);
  BOOST_TEST(listed.code == 0, listed.err);

  // Somebody else's certificate is not trusted for being in a file.
  auto other = ours.sign("other", "DNS:engine.example.org");
  auto strange
    = list_tools({"--http.tls-certificate=" + other.certificate,
                  "--http.tls-key=" + other.key, "--listen=" + address});
  BOOST_TEST(strange.code != 0);
  BOOST_TEST(contains(strange.err, "does not answer"), strange.err);
  // Who names an engine says whom he trusts, and for that name.
  auto untrusted = list_tools({"--server=https://" + address});
  BOOST_TEST(contains(untrusted.err, "certificate"), untrusted.err);
  auto misnamed
    = list_tools({"--server=https://" + address, "--ca-file=" + ours.file()});
  BOOST_TEST(contains(misnamed.err, "certificate"), misnamed.err);
}

BOOST_AUTO_TEST_CASE(find_the_engine_that_uses_the_data) {
  serving engine{place, {"--local.enabled=false"}};
  const auto address = engine.address();
  data = "--data-dir=" + (place.path / "data").string();
  // Whatever address the settings name.
  auto own = run_program(
    {"org", "show", "--json", data, "--listen=127.0.0.1:1"}, place.path);
  BOOST_TEST(own.code == 0, own.err);
  BOOST_TEST(contains(ask(address, "GET /metrics"),
                      R"(route="/v1/organizations/self")"));
  const auto socket
    = "--server=unix://" + (place.path / "data" / "operator.sock").string();
  auto named = list_tools({socket});
  BOOST_TEST(named.code == 0, named.err);
}

BOOST_AUTO_TEST_CASE(show_who_we_are_to_an_engine_that_asks) {
  test::test_authority ours{place.path, "ours"};
  auto shown = ours.sign("served", "IP:127.0.0.1");
  auto client = ours.sign("client", "DNS:client");
  serving engine{place,
                 {"--http.tls-certificate=" + shown.certificate,
                  "--http.tls-key=" + shown.key,
                  "--http.tls-client-ca=" + ours.file()}};
  std::vector<std::string> words{"--server=https://"
                                   + authority_in(engine.greeting()),
                                 "--ca-file=" + ours.file()};
  BOOST_TEST(list_tools(words).code != 0);
  words.push_back("--cert=" + client.certificate);
  words.push_back("--cert-key=" + client.key);
  auto listed = list_tools(words);
  BOOST_TEST(listed.code == 0, listed.err);
}

BOOST_AUTO_TEST_CASE(do_not_open_the_data_beside_a_stranger) {
  test::scripted_server stranger{[](test::peer& p, int) {
    p.read_request();
    p.write("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
  }};
  auto refused
    = list_tools({"--listen=127.0.0.1:" + std::to_string(stranger.port())});
  BOOST_TEST(refused.code == exit_unreachable);
  BOOST_TEST(contains(refused.err, "is not a troupe engine"), refused.err);
  BOOST_TEST(!std::filesystem::exists(place.path / "elsewhere"));
}

BOOST_AUTO_TEST_CASE(say_what_to_look_at_where_nobody_serves) {
  // Bound and silent: the kernel refuses, and nobody else gets this port.
  boost::asio::io_context io;
  boost::asio::ip::tcp::acceptor taken{io};
  taken.open(boost::asio::ip::tcp::v4());
  taken.bind({boost::asio::ip::address_v4::loopback(), 0});
  auto port = std::to_string(taken.local_endpoint().port());
  auto refused = list_tools({"--server=http://127.0.0.1:" + port});
  BOOST_TEST(refused.code == exit_unreachable);
  BOOST_TEST(contains(refused.err, "is an engine running there?"), refused.err);
}

BOOST_AUTO_TEST_CASE(say_which_names_an_engine_goes_by) {
  test::scripted_server picky{[](test::peer& p, int) {
    p.read_request();
    p.write("HTTP/1.1 421 Misdirected Request\r\nContent-Length: 0\r\n\r\n");
  }};
  auto port = std::to_string(picky.port());
  auto found = list_tools({"--listen=127.0.0.1:" + port});
  BOOST_TEST(contains(found.err, "http.allowed-hosts"), found.err);
  auto named = list_tools({"--server=http://127.0.0.1:" + port});
  BOOST_TEST(contains(named.err, "http.allowed-hosts"), named.err);
}

BOOST_AUTO_TEST_SUITE_END()
