#include "runtime/model/package_requirement.hpp"
#include "runtime/model/pep508_marker.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(markers)

BOOST_AUTO_TEST_CASE(reads_what_requirements_files_have) {
  const std::pair<const char*, const char*> cases[] = {
    {" python_version < '3.12'", R"(python_version < "3.12")"},
    {"'linux' in sys_platform", R"("linux" in sys_platform)"},
    {"python_version>=\"3.9\"and(os_name=='nt' or os_name not  in 'java')",
     R"(python_version >= "3.9" and (os_name == "nt" or os_name not in "java"))"},
    {"platform_python_implementation != 'PyPy'",
     R"(platform_python_implementation != "PyPy")"},
  };
  for (auto& [text, spelled] : cases)
    BOOST_TEST_CONTEXT(text) {
      auto read = parse_marker(text);
      BOOST_REQUIRE(read.has_value());
      BOOST_TEST(*read == spelled);
      BOOST_TEST(*parse_marker(*read) == *read);
    }
}

BOOST_AUTO_TEST_CASE(refuses_what_is_none) {
  for (const char* text :
       {"", "rm -rf /", "python_version", "python_version < 3",
        "python_version < os_name", "'a' == 'b'", "os_name == 'a' --index x",
        "(os_name == 'a'", "os_name == 'a')", "os_name == 'a\n--x'",
        "os_name == 'a", "unknown == 'a'", "extra == 'a'", "os_name = 'a'",
        "((((((((((os_name == 'a'))))))))))"})
    BOOST_TEST_CONTEXT(text)
  BOOST_TEST(parse_marker(text).has_error());
  BOOST_TEST(
    parse_marker("os_name == '" + std::string(600, 'a') + "'").has_error());
}

BOOST_AUTO_TEST_CASE(belongs_to_its_requirement) {
  auto r = parse_marked_pip("tomli[x]>=1 ; python_version < '3.11'");
  BOOST_REQUIRE(r.has_value());
  BOOST_TEST(to_string(*r) == R"(tomli[x]>=1; python_version < "3.11")");
  BOOST_TEST((*parse_marked_pip(to_string(*r)) == *r));
  BOOST_TEST(parse_marked_pip("tomli;").has_error());
  BOOST_TEST(parse_marked_pip("tomli; rm").has_error());
}

BOOST_AUTO_TEST_SUITE_END()
