#include "runtime/model/host_pattern.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(host_patterns)

namespace {

bool opens(const char* pattern, const char* address, std::uint16_t port,
           std::set<std::string> names = {}) {
  return covers(*parse_host_pattern(pattern), *parse_address(address), port,
                names);
}

network_policy list(std::vector<std::string> allow) {
  return {network_mode::listed, std::move(allow)};
}

} // namespace

BOOST_AUTO_TEST_CASE(reads_every_form_and_writes_it_back) {
  for (std::string text :
       {"example.org", "example.org:443", "*.example.org", "*.example.org:80",
        "10.0.0.0/8", "10.0.0.0/8:5432", "1.2.3.4", "1.2.3.4:80",
        "2001:db8::/32", "2001:db8::1", "[2001:db8::1]:443", "public",
        "public:443", "_srv.example.org", "xn--bcher-kva.example"}) {
    BOOST_TEST_CONTEXT(text) {
      auto p = parse_host_pattern(text);
      BOOST_REQUIRE(p.has_value());
      BOOST_TEST(to_string(*p) == text);
      BOOST_TEST((*parse_host_pattern(to_string(*p)) == *p));
    }
  }
  BOOST_TEST(to_string(*parse_host_pattern("Example.ORG.")) == "example.org");
  BOOST_TEST(to_string(*parse_host_pattern("[::1]")) == "::1");
}

BOOST_AUTO_TEST_CASE(refuses_what_is_no_host) {
  for (std::string text : {"",
                           "*",
                           "*.",
                           "a.*.org",
                           "exa mple.org",
                           "http://example.org",
                           "example.org/path",
                           "example.org:",
                           "example.org:0",
                           "example.org:65536",
                           "example.org:http",
                           "a..b",
                           ".a",
                           "user@host",
                           "Public", // nor the word that opens all
                           "public.:443",
                           "127.1",
                           "1",
                           "10.0.0.1/8",
                           "[::1",
                           "[::1]x",
                           "[::1]:x",
                           "b\xc3\xbc.de",
                           "a\nb"})
    BOOST_TEST_CONTEXT(text)
  BOOST_TEST(parse_host_pattern(text).has_error());
  BOOST_TEST(parse_host_pattern(std::string(300, 'a')).has_error());
  BOOST_TEST(parse_host_pattern(std::string(64, 'a') + ".org").has_error());
}

BOOST_AUTO_TEST_CASE(opens_by_name_only_what_is_public) {
  BOOST_TEST(opens("example.org", "8.8.8.8", 443, {"example.org"}));
  BOOST_TEST(!opens("example.org", "8.8.8.8", 443));
  BOOST_TEST(!opens("example.org", "8.8.8.8", 443, {"evil-example.org"}));
  BOOST_TEST(!opens("example.org:443", "8.8.8.8", 80, {"example.org"}));
  // Rebinding: an allowed name that points inside.
  BOOST_TEST(!opens("example.org", "127.0.0.1", 443, {"example.org"}));
  BOOST_TEST(!opens("example.org", "169.254.169.254", 80, {"example.org"}));
  BOOST_TEST(opens("*.example.org", "8.8.8.8", 1, {"a.b.example.org"}));
  BOOST_TEST(!opens("*.example.org", "8.8.8.8", 1, {"example.org"}));
  BOOST_TEST(!opens("*.example.org", "8.8.8.8", 1, {"xexample.org"}));
}

BOOST_AUTO_TEST_CASE(opens_closed_addresses_only_on_purpose) {
  BOOST_TEST(opens("public", "8.8.8.8", 53));
  BOOST_TEST(!opens("public", "10.0.0.1", 53));
  BOOST_TEST(opens("10.0.0.0/8:53", "10.0.0.1", 53));
  BOOST_TEST(!opens("10.0.0.0/8:53", "10.0.0.1", 54));
  BOOST_TEST(opens("127.0.0.1", "127.0.0.1", 8080));
  BOOST_TEST(opens("0.0.0.0/0", "8.8.8.8", 53));
  BOOST_TEST(!opens("0.0.0.0/0", "127.0.0.1", 53));
  BOOST_TEST(!opens("::/0", "::1", 53));
}

BOOST_AUTO_TEST_CASE(keeps_what_two_policies_both_allow) {
  network_policy off{network_mode::off, {}};
  network_policy open;
  auto some = list({"example.org"});
  BOOST_TEST((strictest(off, open) == off));
  BOOST_TEST((strictest(some, off) == off));
  BOOST_TEST((strictest(open, open) == open));
  BOOST_TEST((strictest(open, some) == some));
  // A tenant's list cannot open what the server's "public" leaves closed.
  BOOST_TEST((strictest(open, list({"10.0.0.1", "8.8.8.8", "a.b"}))
              == list({"8.8.8.8", "a.b"})));
  BOOST_TEST((strictest(list({"public", "10.0.0.0/8"}),
                        list({"10.1.0.0/16:5432", "a.b:443", "192.168.0.1"}))
              == list({"a.b:443", "10.1.0.0/16:5432"})));
  BOOST_TEST((strictest(list({"0.0.0.0/0"}), list({"10.0.0.1"})) == list({})));
  BOOST_TEST((strictest(list({"*.example.org:443"}),
                        list({"a.example.org", "*.b.example.org", "example.org",
                              "c.example.org:80"}))
              == list({"a.example.org:443", "*.b.example.org:443"})));
  BOOST_TEST((strictest(list({"a.b"}), list({"8.8.8.8"})) == list({})));
  BOOST_TEST((strictest(list({"broken entry!"}), open) == list({})));
}

BOOST_AUTO_TEST_SUITE_END()
