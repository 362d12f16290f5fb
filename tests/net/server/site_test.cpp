#include "net/server/site.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe::net;

BOOST_AUTO_TEST_SUITE(sites)

namespace {

using fields = std::vector<std::pair<std::string_view, std::string_view>>;

bool foreign(method verb, fields sent, bool tls = false) {
  request in;
  in.verb = verb;
  in.fields = std::move(sent);
  in.fields.emplace_back("Host", "localhost:8283");
  return from_foreign_page(in, tls);
}

} // namespace

BOOST_AUTO_TEST_CASE(knows_this_machine_by_its_addresses_and_two_names) {
  for (auto ours : {"localhost", "tools.localhost", "127.0.0.1", "127.1.2.3",
                    "::1", "::ffff:127.0.0.1", "0:0:0:0:0:0:0:1"})
    BOOST_TEST(is_loopback_name(ours), ours);
  for (auto other :
       {"127.evil.example", "127.0.0.1.evil.example", "127.", "127.1",
        "127.0.0.256", "localhost.evil.example", "xlocalhost", "0.0.0.0",
        "128.0.0.1", "::", "::ffff:10.0.0.1", "2130706433", "0x7f.1", ""})
    BOOST_TEST(!is_loopback_name(other), other);
}

BOOST_AUTO_TEST_CASE(takes_programs_and_its_own_pages) {
  for (auto verb : {method::get, method::post, method::del}) {
    BOOST_TEST(!foreign(verb, {}));
    BOOST_TEST(!foreign(verb, {{"Origin", "http://localhost:8283"}}));
    BOOST_TEST(!foreign(verb, {{"Origin", "HTTPS://LocalHost:8283"}}));
    BOOST_TEST(!foreign(verb,
                        {{"Origin", "http://localhost:8283"},
                         {"Sec-Fetch-Site", "same-origin"}}));
    BOOST_TEST(!foreign(verb, {{"Sec-Fetch-Site", "none"}}));
    // As Node's fetch sends it, which is no browser.
    BOOST_TEST(!foreign(verb, {{"Sec-Fetch-Mode", "cors"}}));
  }
}

BOOST_AUTO_TEST_CASE(knows_pages_of_others_whatever_they_ask_for) {
  for (auto verb : {method::get, method::head, method::post, method::options}) {
    for (auto origin : {"http://evil.example", "null", "", "http://localhost",
                        "http://localhost:3000", "ws://localhost:8283",
                        "localhost:8283", "http://localhost:8283.evil.example",
                        "http://localhost:8283/", "chrome-extension://abcdef"})
      BOOST_TEST(foreign(verb, {{"Origin", origin}}), origin);
    for (auto site : {"cross-site", "same-site", "", "same-origin, cross-site"})
      BOOST_TEST(foreign(verb, {{"sec-fetch-site", site}}), site);
    // The first one is not the only one that counts.
    BOOST_TEST(foreign(verb,
                       {{"Origin", "http://localhost:8283"},
                        {"Origin", "http://evil.example"}}));
  }
}

BOOST_AUTO_TEST_CASE(lets_people_follow_links_and_nothing_else) {
  const auto visit = [](method verb, std::string_view into) {
    return foreign(verb,
                   {{"Sec-Fetch-Site", "cross-site"},
                    {"Sec-Fetch-Mode", "navigate"},
                    {"Sec-Fetch-Dest", into}});
  };
  BOOST_TEST(!visit(method::get, "document"));
  BOOST_TEST(visit(method::get, "iframe"));
  BOOST_TEST(visit(method::post, "document"));
}

BOOST_AUTO_TEST_CASE(tells_an_unencrypted_page_from_its_own_where_it_encrypts) {
  BOOST_TEST(
    foreign(method::post, {{"Origin", "http://localhost:8283"}}, true));
  BOOST_TEST(
    !foreign(method::post, {{"Origin", "https://localhost:8283"}}, true));
}

BOOST_AUTO_TEST_SUITE_END()
