#include "runtime/model/codec/fingerprint_forms.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(fingerprint_forms)

BOOST_AUTO_TEST_CASE(is_one_number_in_three_forms) {
  sandbox_config config;
  config.type = backend_kind::local;
  config.config = json::object{{"venv_name", "venv"}};
  const auto hex = hex_fingerprint(config);
  BOOST_TEST(hex.size() == 64u);
  BOOST_TEST(hex.find_first_not_of("0123456789abcdef") == hex.npos);
  BOOST_TEST(decimal_fingerprint(hex) == fingerprint(config));
  BOOST_TEST(short_fingerprint(hex) == hex.substr(0, 12));
}

BOOST_AUTO_TEST_CASE(leaves_what_is_no_digest_as_it_is) {
  BOOST_TEST(decimal_fingerprint("") == "");
  BOOST_TEST(decimal_fingerprint("123") == "123");
  const std::string odd(64, 'x');
  BOOST_TEST(decimal_fingerprint(odd) == odd);
  BOOST_TEST(short_fingerprint("42") == "42");
}

BOOST_AUTO_TEST_SUITE_END()
