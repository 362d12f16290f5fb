#include "runtime/model/variable.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(variables)

BOOST_AUTO_TEST_CASE(accepts_the_names_that_tools_use) {
  for (auto name : {"A", "_", "_x9", "API_KEY", "PATH", "HOME", "PYTHONPATH",
                    "PYTHONUNBUFFERED", "NODE_PATH", "NODE_ENV", "http_proxy",
                    "LETTA_API_KEY", "LDFLAGS", "ENVIRONMENT", "TZ", "LANG",
                    "OPENAI_API_KEY", "BASHFUL"})
    BOOST_TEST_CONTEXT(name)
  BOOST_TEST(check_variable_name(name).has_value());
  BOOST_TEST(check_variable_name(std::string(256, 'A')).has_value());
}

BOOST_AUTO_TEST_CASE(refuses_names_that_change_how_a_process_is_loaded) {
  for (auto name :
       {"LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "LD_", "GLIBC_TUNABLES",
        "GCONV_PATH", "PYTHONHOME", "PYTHONSTARTUP", "NODE_OPTIONS", "BASH_ENV",
        "ENV", "IFS", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS",
        "OPENSSL_CONF", "TROUPE_RUN_ID"}) {
    BOOST_TEST_CONTEXT(name) {
      auto bad = check_variable_name(name, "/env/x");
      BOOST_REQUIRE(bad.has_error());
      BOOST_TEST(bad.error().fields.at(0).pointer == "/env/x");
      BOOST_TEST(bad.error().text.find(name) != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(refuses_names_that_are_no_names) {
  for (std::string name : {"", "9A", "A B", "A=B", "A-B", "A.B", "A\n",
                           "caf\xc3\xa9", "BASH_FUNC_x%%", "$A"})
    BOOST_TEST_CONTEXT(name)
  BOOST_TEST(check_variable_name(name).has_error());
  BOOST_TEST(check_variable_name(std::string_view("A\0", 2)).has_error());
  BOOST_TEST(check_variable_name(std::string(257, 'A')).has_error());
}

BOOST_AUTO_TEST_CASE(checks_values_without_repeating_them) {
  BOOST_TEST(check_variable_value("").has_value());
  BOOST_TEST(check_variable_value("any = \n\xff").has_value());
  BOOST_TEST(check_variable_value(std::string(127u << 10, 'x')).has_value());
  BOOST_TEST(
    check_variable_value(std::string((127u << 10) + 1, 'x')).has_error());
  auto bad = check_variable_value(std::string_view("hunter2\0", 8));
  BOOST_REQUIRE(bad.has_error());
  BOOST_TEST(bad.error().text.find("hunter2") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
