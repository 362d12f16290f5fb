#include "net/providers/allow_lists.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::net;

BOOST_AUTO_TEST_SUITE(lists_of_hosts)

BOOST_AUTO_TEST_CASE(tell_names_from_networks) {
  network_policy policy{network_mode::listed,
                        {"cbc.ca", "fed.be", "*.Example.org", "10.0.0.7",
                         "192.168.0.0/16", "2001:db8::1"}};
  auto lists = host_lists_of(policy, "Somebody");
  BOOST_REQUIRE(lists.has_value());
  BOOST_TEST(!lists->everything);
  // Made of letters that numbers have as well, and names all the same.
  BOOST_TEST(
    (lists->names
     == std::vector<std::string>{"cbc.ca", "fed.be", "*.example.org"}));
  BOOST_TEST((lists->networks
              == std::vector<std::string>{"10.0.0.7/32", "192.168.0.0/16",
                                          "2001:db8::1/128"}));
}

BOOST_AUTO_TEST_CASE(know_the_word_for_everything) {
  network_policy policy{network_mode::listed, {"public", "example.org"}};
  auto lists = host_lists_of(policy, "Somebody");
  BOOST_REQUIRE(lists.has_value());
  BOOST_TEST(lists->everything);
}

BOOST_AUTO_TEST_CASE(refuse_what_a_provider_cannot_hold_back) {
  for (auto text : {"example.org:443", "10.0.0.7:80", "[2001:db8::1]:443",
                    "public:443", "a b"}) {
    network_policy policy{network_mode::listed, {text}};
    auto lists = host_lists_of(policy, "Somebody");
    BOOST_REQUIRE(lists.has_error());
    BOOST_TEST((lists.error().code == ec::invalid_request), text);
  }
}

BOOST_AUTO_TEST_SUITE_END()
