#include "net/compat/e2b/wire/network_rules.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::net::e2b_facade;

BOOST_AUTO_TEST_SUITE(e2b_network_rules)

namespace {

/// The policy as text, "-" for none, "!" for what is refused.
std::string policy_of(const std::string& body,
                      std::optional<bool> internet = std::nullopt) {
  const auto said = json::parse_object(body).value();
  json::reader in{said};
  const auto policy = read_rules(in, internet);
  if (in.finish_lenient())
    return "!";
  return policy ? json::to_text(*policy) : "-";
}

} // namespace

BOOST_AUTO_TEST_CASE(nothing_is_what_the_operator_allows) {
  BOOST_TEST(policy_of("{}") == "-");
  BOOST_TEST(policy_of("{}", true) == "-");
  BOOST_TEST(policy_of(R"({"allowOut":[],"denyOut":[]})") == "-");
}

BOOST_AUTO_TEST_CASE(no_internet_is_off) {
  BOOST_TEST(policy_of("{}", false) == R"("off")");
  BOOST_TEST(policy_of(R"({"denyOut":["0.0.0.0/0"]})") == R"("off")");
}

BOOST_AUTO_TEST_CASE(what_is_allowed_wins_over_what_is_denied) {
  const std::string allowed = R"({"allow":["1.1.1.1"]})";
  BOOST_TEST(policy_of(R"({"allowOut":["1.1.1.1"]})") == allowed);
  BOOST_TEST(
    policy_of(R"({"allowOut":["1.1.1.1"],"denyOut":["0.0.0.0/0"]})", false)
    == allowed);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_kept_is_refused) {
  BOOST_TEST(policy_of(R"({"denyOut":["8.8.8.8"]})") == "!");
  BOOST_TEST(policy_of(R"({"egressProxy":{"address":"a:1"}})") == "!");
  BOOST_TEST(policy_of(R"({"rules":{"a.example":[]}})") == "!");
}

BOOST_AUTO_TEST_SUITE_END()
