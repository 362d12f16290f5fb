#include "runtime/model/address.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(addresses)

BOOST_AUTO_TEST_CASE(knows_the_internet_from_everything_else) {
  for (auto text :
       {"1.1.1.1", "8.8.8.8", "93.184.216.34", "100.63.255.255", "100.128.0.1",
        "172.15.255.255", "172.32.0.1", "192.0.1.1", "198.17.255.255",
        "198.20.0.1", "223.255.255.255", "168.63.129.15", "2606:4700::1111",
        "2a00:1450:4001::1", "2001:4860:4860::8888", "2001:200::1"})
    BOOST_TEST_CONTEXT(text)
  BOOST_TEST(is_public(*parse_address(text)));
}

BOOST_AUTO_TEST_CASE(closes_every_special_range_at_both_ends) {
  for (auto text : {
         "0.0.0.0",
         "0.255.255.255",
         "10.0.0.0",
         "10.255.255.255",
         "100.64.0.0",
         "100.127.255.255",
         "127.0.0.1",
         "127.255.255.255",
         "169.254.0.0",
         "169.254.169.254",
         "169.254.255.255",
         "172.16.0.0",
         "172.31.255.255",
         "192.0.0.0",
         "192.0.0.192",
         "192.0.2.1",
         "192.88.99.1",
         "192.168.0.0",
         "192.168.255.255",
         "198.18.0.0",
         "198.19.255.255",
         "198.51.100.7",
         "203.0.113.7",
         "224.0.0.1",
         "239.255.255.255",
         "240.0.0.1",
         "255.255.255.255",
         "168.63.129.16",
         "100.100.100.200", // Alibaba's metadata, inside the CGNAT range
         "::",
         "::1",
         "::7f00:1",
         "::ffff:8.8.8.8",
         "::ffff:127.0.0.1",
         "::ffff:0:8.8.8.8",
         "64:ff9b::808:808",
         "64:ff9b:1::1",
         "100::1",
         "2001::1",
         "2001:0:4136:e378:8000:63bf:3fff:fdd2",
         "2001:db8::1",
         "2002:7f00:1::",
         "2002:808:808::1",
         "3fff::1",
         "5f00::1",
         "fc00::1",
         "fd00:ec2::254", // AWS metadata
         "fe80::1",
         "febf::1",
         "fec0::1",
         "ff02::1",
         "4000::1",
         "8000::1",
         "2606:4700::5efe:10.0.0.1",
         "2606:4700::200:5efe:10.0.0.1",
       })
    BOOST_TEST_CONTEXT(text)
  BOOST_TEST(!is_public(*parse_address(text)));
}

BOOST_AUTO_TEST_CASE(reads_only_complete_addresses) {
  for (auto text : {"", "1", "127.1", "0x7f.1", "0177.0.0.1", "1.2.3.4.5",
                    "256.1.1.1", "1.2.3.4 ", "::1%eth0", ":::", "1::2::3"})
    BOOST_TEST_CONTEXT(text)
  BOOST_TEST(parse_address(text).has_error());
  BOOST_TEST(parse_address(std::string_view("1.2.3.4\0", 8)).has_error());
  BOOST_TEST(to_string(*parse_address("2001:DB8:0:0::1")) == "2001:db8::1");
  BOOST_TEST(to_string(*parse_address("::1"), 80) == "[::1]:80");
  BOOST_TEST(to_string(*parse_address("1.2.3.4"), 80) == "1.2.3.4:80");
}

BOOST_AUTO_TEST_CASE(compares_networks_bit_by_bit) {
  auto n = *parse_ip_network("10.32.0.0/11");
  BOOST_TEST(n.contains(*parse_address("10.63.255.255")));
  BOOST_TEST(!n.contains(*parse_address("10.64.0.0")));
  BOOST_TEST(!n.contains(*parse_address("::a20:0")));
  BOOST_TEST(parse_ip_network("0.0.0.0/0")->contains(n));
  BOOST_TEST(!n.contains(*parse_ip_network("10.0.0.0/8")));
  BOOST_TEST(to_string(n) == "10.32.0.0/11");
  BOOST_TEST(to_string(*parse_ip_network("1.2.3.4")) == "1.2.3.4");
  BOOST_TEST(to_string(*parse_ip_network("2001:db8::/32")) == "2001:db8::/32");
  for (auto text : {"10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1",
                    "10.0.0.0/8x", "/8", "2001:db8::1/32", "::/129"})
    BOOST_TEST_CONTEXT(text)
  BOOST_TEST(parse_ip_network(text).has_error());
  BOOST_TEST(is_closed(*parse_ip_network("10.1.0.0/16")));
  BOOST_TEST(is_closed(*parse_ip_network("fd00::/8")));
  BOOST_TEST(!is_closed(*parse_ip_network("0.0.0.0/0")));
  BOOST_TEST(!is_closed(*parse_ip_network("::/0")));
  BOOST_TEST(!is_closed(*parse_ip_network("8.0.0.0/8")));
}

BOOST_AUTO_TEST_SUITE_END()
