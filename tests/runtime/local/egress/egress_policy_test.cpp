#include "runtime/local/egress/egress_policy.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::network;
using std::chrono::seconds;

BOOST_AUTO_TEST_SUITE(network_judge)

namespace {

ip_address at(const char* text) {
  return *parse_address(text);
}

network_policy list(std::vector<std::string> allow) {
  return {network_mode::listed, std::move(allow)};
}

const judge::clock::time_point start{};

} // namespace

BOOST_AUTO_TEST_CASE(keeps_public_policies_off_closed_addresses) {
  broker_options options;
  judge j{network_policy{}, options};
  BOOST_TEST(j.address(at("8.8.8.8"), 443, start).allowed);
  BOOST_TEST(j.address(at("::ffff:8.8.8.8"), 443, start).allowed);
  for (auto text :
       {"127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1",
        "::ffff:10.0.0.1", "fe80::1", "64:ff9b::7f00:1",
        "2002:7f00:1::", "100.64.0.1", "224.0.0.1", "0.0.0.0", "::"})
    BOOST_TEST_CONTEXT(text)
  BOOST_TEST(!j.address(at(text), 80, start).allowed);
}

BOOST_AUTO_TEST_CASE(keeps_every_policy_off_the_hosts_own_addresses) {
  broker_options options;
  options.closed = [](const ip_address& a) -> std::string_view {
    return a == at("8.8.8.8") ? "this host's own address" : "";
  };
  for (auto policy : {network_policy{}, list({"8.8.8.8"}), list({"8.8.8.0/24"}),
                      list({"host.example"})}) {
    judge j{policy, options};
    j.learn("host.example", at("8.8.8.8"), seconds{60}, start);
    BOOST_TEST(!j.address(at("8.8.8.8"), 80, start).allowed);
  }
}

BOOST_AUTO_TEST_CASE(judges_an_address_by_the_name_that_led_to_it) {
  broker_options options;
  judge j{list({"example.org:443"}), options};
  BOOST_TEST(!j.address(at("8.8.8.8"), 443, start).allowed);
  j.learn("example.org", at("8.8.8.8"), seconds{1}, start);
  j.learn("example.org", at("127.0.0.1"), seconds{1}, start);
  j.learn("other.org", at("9.9.9.9"), seconds{1}, start);
  BOOST_TEST(j.address(at("8.8.8.8"), 443, start).allowed);
  BOOST_TEST(!j.address(at("8.8.8.8"), 80, start).allowed);
  BOOST_TEST(!j.address(at("127.0.0.1"), 443, start).allowed); // rebinding
  BOOST_TEST(!j.address(at("9.9.9.9"), 443, start).allowed);
  // Programs keep answers for a while; not for ever.
  BOOST_TEST(j.address(at("8.8.8.8"), 443, start + seconds{299}).allowed);
  BOOST_TEST(!j.address(at("8.8.8.8"), 443, start + seconds{301}).allowed);
}

BOOST_AUTO_TEST_CASE(looks_up_only_names_that_may_be_reached) {
  broker_options options;
  judge j{list({"*.example.org", "8.8.8.8"}), options};
  BOOST_TEST(j.name("a.example.org").allowed);
  BOOST_TEST(!j.name("secret-data.evil.net").allowed);
  BOOST_TEST(
    !judge(network_policy{network_mode::off, {}}, options).name("a").allowed);
  BOOST_TEST(judge(network_policy{}, options).name("a").allowed);
}

BOOST_AUTO_TEST_CASE(records_each_decision_once_and_so_many_at_most) {
  broker_options options;
  options.events = 3;
  judge j{network_policy{}, options};
  for (int i = 0; i < 100; ++i)
    j.address(at("10.0.0.1"), 80, start);
  j.learn("dns.google", at("8.8.8.8"), seconds{60}, start);
  j.address(at("8.8.8.8"), 53, start);
  j.refuse("listen", "closed");
  j.address(at("10.0.0.2"), 80, start);
  auto report = j.decided();
  BOOST_REQUIRE(report.events.size() == 3u);
  BOOST_TEST(report.dropped == 1u);
  BOOST_TEST(
    (report.events[0] == network_event{"10.0.0.1:80", false, "private range"}));
  BOOST_TEST((report.events[1]
              == network_event{"dns.google:53 (8.8.8.8:53)", true, ""}));
  BOOST_TEST((report.events[2] == network_event{"listen", false, "closed"}));
}

BOOST_AUTO_TEST_CASE(tells_of_refused_sockets_once_in_a_full_record_too) {
  broker_options options;
  options.events = 2;
  judge j{network_policy{}, options};
  j.refuse_socket();
  for (int i = 1; i <= 3; ++i)
    j.address(at("8.8.8.8"), static_cast<std::uint16_t>(i), start);
  j.refuse_socket();
  auto seen = j.decided();
  BOOST_REQUIRE(seen.events.size() == 3u);
  BOOST_TEST(seen.events[0].target == "socket");
  BOOST_TEST(seen.events[0].reason == "more than 1024 and then 100 a second");
  BOOST_TEST(!seen.events[0].allowed);
  BOOST_TEST(seen.dropped == 1u);
  BOOST_TEST(!seen.denied.has_value());
}

BOOST_AUTO_TEST_CASE(remembers_so_many_names_at_most) {
  broker_options options;
  options.names = 10;
  judge j{list({"*.example.org"}), options};
  for (std::uint8_t i = 1; i <= 100; ++i) {
    ip_address a{{8, 8, 8, i}, false};
    j.learn("a" + std::to_string(i) + ".example.org", a, seconds{60}, start);
    BOOST_TEST(j.address(a, 1, start).allowed); // the newest always counts
  }
  BOOST_TEST(!j.address(at("8.8.8.1"), 1, start).allowed);
}

BOOST_AUTO_TEST_SUITE_END()
