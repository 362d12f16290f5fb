#include "runtime/local/warm/interpreter_command.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>

using namespace troupe;
using namespace troupe::zygote;

BOOST_AUTO_TEST_SUITE(interpreter_commands)

namespace {

interpreter_paths paths_of(family of) {
  interpreter_paths paths;
  paths.family = of;
  paths.interpreter = "/usr/bin/interpreter";
  paths.home = "/state/instance";
  paths.module = "/state/instance/module.so";
  paths.boot = "/state/instance/boot";
  paths.runners = "/state/instance/runners";
  paths.runners_inside = "/troupe";
  return paths;
}

bool has(const std::vector<std::string>& argv, std::string_view part) {
  return std::ranges::any_of(
    argv, [part](const auto& word) { return word.find(part) != word.npos; });
}

} // namespace

BOOST_AUTO_TEST_CASE(tell_nothing_of_where_they_lie_on_the_host) {
  for (const auto of : {family::python, family::node}) {
    const auto argv
      = interpreter_command({}, paths_of(of), purpose::serve, "/state/profile");
    BOOST_TEST(!has(argv, "/state"));
    BOOST_TEST(has(argv, "./module.so"));
    BOOST_TEST(has(argv, "/troupe"));
  }
}

BOOST_AUTO_TEST_CASE(name_what_is_on_and_what_they_are_for) {
  zygote_options options;
  options.huge_text = options.gathered_pages = false;
  const auto serve = interpreter_command(options, paths_of(family::python),
                                         purpose::serve, "");
  BOOST_TEST(has(serve, "child-allocator"));
  BOOST_TEST(!has(serve, "huge-text"));
  BOOST_TEST(has(serve, ",serve"));
  const auto learn = interpreter_command(options, paths_of(family::python),
                                         purpose::learn, "/state/profile");
  BOOST_TEST(has(learn, ",learn"));
  BOOST_TEST(learn.size() == serve.size());
}

BOOST_AUTO_TEST_CASE(change_the_flags_of_node_with_the_options) {
  zygote_options options;
  options.huge_text = options.gathered_pages = false;
  const auto plain
    = interpreter_command(options, paths_of(family::node), purpose::serve, "");
  BOOST_TEST(plain.front() == "/usr/bin/interpreter");
  BOOST_TEST(!has(plain, "largepages"));
  BOOST_TEST(has(plain, "--single-threaded"));
  options.huge_text = true;
  BOOST_TEST(has(
    interpreter_command(options, paths_of(family::node), purpose::serve, ""),
    "largepages"));
}

BOOST_AUTO_TEST_SUITE_END()
