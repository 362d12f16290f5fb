#include "runtime/base/secret.hpp"
#include "runtime/json/writer.hpp"

#include <boost/test/unit_test.hpp>

#include <map>
#include <vector>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(json_writer_suite)

namespace {

std::string written(json::writer::style how) {
  json::object_writer out{how};
  out.text("a", "say \"x\"")
    .text("empty", "")
    .text_or_null("null", "")
    .number("n", -7)
    .number("zero", 0)
    .boolean("yes", true)
    .boolean("no", false)
    .raw("tree", "[1]")
    .list("list", std::vector<std::string>{"b", "c"},
          [&](const auto& item) { out.text(item); })
    .objects("objects", std::vector<int>{1, 2},
             [&](int i) { out.number("i", i); })
    .texts_by_name(
      "names", std::map<std::string, secret>{{"\"", secret{std::string{"v"}}}});
  out.name("inner").begin('{').end('}');
  return out.finish();
}

const std::string whole
  = R"({"a":"say \"x\"","empty":"","null":null,"n":-7,"zero":0,)"
    R"("yes":true,"no":false,"tree":[1],"list":["b","c"],)"
    R"("objects":[{"i":1},{"i":2}],"names":{"\"":"v"},"inner":{}})";

} // namespace

BOOST_AUTO_TEST_CASE(writes_members_lists_and_objects) {
  BOOST_TEST(written(json::writer::style::full) == whole);
  BOOST_TEST(json::check(whole).has_value());
}

BOOST_AUTO_TEST_CASE(writes_the_same_where_secrets_are_wiped) {
  BOOST_TEST(written(json::writer::style::wiped) == whole);
}

BOOST_AUTO_TEST_CASE(leaves_out_what_says_nothing_when_brief) {
  BOOST_TEST(written(json::writer::style::brief)
             == R"({"a":"say \"x\"","null":null,"n":-7,"yes":true,)"
                R"("tree":[1],"list":["b","c"],"objects":[{"i":1},{"i":2}],)"
                R"("names":{"\"":"v"},"inner":{}})");
}

BOOST_AUTO_TEST_CASE(writes_an_array_of_what_is_json_already) {
  BOOST_TEST(json::array_of(std::vector<int>{1, 2},
                            [](int i) { return std::to_string(i); })
             == "[1,2]");
}

BOOST_AUTO_TEST_SUITE_END()
