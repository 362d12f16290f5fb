#include "runtime/local/egress/broker_orders.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::network;

BOOST_AUTO_TEST_SUITE(network_broker_orders)

BOOST_AUTO_TEST_CASE(arrive_as_they_were_sent) {
  broker_order open{broker_order::word::open, {}, 0, {}};
  auto& o = open.options;
  o.nameservers = {*parse_address("10.0.0.2"), *parse_address("fd00::2")};
  o.nameserver_port = 5'353;
  o.lookup_timeout = std::chrono::milliseconds{123};
  o.of_a_run = {1, 2, 3, 4, 5};
  o.of_an_organization = {6, 7, 8, 9, 10};
  o.events = 11;
  o.names = 12;
  o.lookups = 13;
  o.guard_sockets = false;
  o.ordinary = {*parse_ip_network("127.0.0.8/29")};
  broker_order got;
  BOOST_REQUIRE(decode(encode(open), got));
  BOOST_TEST((got.what == broker_order::word::open));
  BOOST_TEST((got.options.nameservers == o.nameservers));
  BOOST_TEST(got.options.nameserver_port == 5'353);
  BOOST_TEST((got.options.lookup_timeout == o.lookup_timeout));
  BOOST_TEST(got.options.of_a_run.percent_of_a_processor == 5u);
  BOOST_TEST(got.options.of_an_organization.sockets_at_once == 6u);
  BOOST_TEST(got.options.events == 11u);
  BOOST_TEST(got.options.names == 12u);
  BOOST_TEST(got.options.lookups == 13u);
  BOOST_TEST(!got.options.guard_sockets);
  BOOST_TEST((got.options.ordinary == o.ordinary));

  const network_policy policy{network_mode::listed, {"a.example", "b:1"}};
  broker_order serve;
  BOOST_REQUIRE(
    decode(encode({broker_order::word::serve, {}, 7, policy}), serve));
  BOOST_TEST((serve.what == broker_order::word::serve));
  BOOST_TEST(serve.run == 7u);
  BOOST_TEST((serve.policy == policy));
  broker_order end;
  BOOST_REQUIRE(decode(encode({broker_order::word::end, {}, 8, {}}), end));
  BOOST_TEST(end.run == 8u);
}

BOOST_AUTO_TEST_CASE(fit_a_packet_with_the_longest_of_policies) {
  const network_policy policy{
    network_mode::listed, std::vector<std::string>(256, std::string(260, 'h'))};
  const auto bytes = encode({broker_order::word::serve, {}, 1, policy});
  BOOST_TEST(bytes.size() < longest_order);
}

BOOST_AUTO_TEST_CASE(are_refused_when_cut_or_longer_than_themselves) {
  const auto bytes = encode(
    {broker_order::word::serve, {}, 7, {network_mode::listed, {"a.example"}}});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    broker_order got;
    BOOST_TEST(!decode(std::string_view{bytes}.substr(0, size), got));
  }
  broker_order got;
  BOOST_TEST(!decode(bytes + "x", got));
  BOOST_TEST(!decode("\x09", got));
}

BOOST_AUTO_TEST_CASE(record_reads_back_up_to_its_first_broken_line) {
  std::string record;
  append_decision(record, {"example.org:443", true, ""}, false);
  append_decision(record, {"10.0.0.1:80", false, "private range"}, false);
  append_decision(record, {"10.0.0.1:80", false, "private range"}, true);
  auto report = read_record(record);
  BOOST_REQUIRE(report.events.size() == 2u);
  BOOST_TEST((report.events[0] == network_event{"example.org:443", true, ""}));
  BOOST_REQUIRE(report.denied.has_value());
  BOOST_TEST(report.denied->reason == "private range");
  report = read_record(std::string_view{record}.substr(0, record.size() - 1));
  BOOST_TEST(report.events.size() == 2u);
  BOOST_TEST(!report.denied.has_value());
}

BOOST_AUTO_TEST_SUITE_END()
