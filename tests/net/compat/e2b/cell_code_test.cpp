#include "net/compat/e2b/cell_code.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::net::e2b_facade;

BOOST_AUTO_TEST_SUITE(e2b_cell_code)

BOOST_AUTO_TEST_CASE(code_loses_the_indentation_of_its_first_line) {
  BOOST_TEST(dedented("\n    a\n      b\n    c\n") == "\na\n  b\nc\n");
  BOOST_TEST(dedented("  a\n b") == "a\n b");
  BOOST_TEST(dedented("a\n  b") == "a\n  b");
  BOOST_TEST(dedented("") == "");
  BOOST_TEST(dedented("  \n\t\n") == "  \n\t\n");
}

BOOST_AUTO_TEST_CASE(values_of_variables_are_data_in_every_language) {
  const json::object hostile{{"A", "'); import os # \" ' \\ \n $(id) `id`"}};
  for (const auto each :
       {context_language::python, context_language::javascript,
        context_language::typescript, context_language::bash}) {
    const auto cells = cells_around(each, hostile);
    BOOST_REQUIRE(cells);
    BOOST_TEST(cells->before.find("$(id)") == std::string::npos);
    BOOST_TEST(cells->before.find("import os #") == std::string::npos);
    BOOST_TEST(!cells->after.empty());
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_variable_is_refused) {
  for (const char* name : {"", "1A", "A B", "A=B", "A;id", "A-B"})
    BOOST_TEST(!cells_around(context_language::bash, {{name, "x"}}), name);
  BOOST_TEST(!cells_around(context_language::python, {{"A", 1}}));
  BOOST_TEST(
    !cells_around(context_language::python, {{"A", std::string(1, '\0')}}));
}

BOOST_AUTO_TEST_SUITE_END()
