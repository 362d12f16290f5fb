// The commands as CLI11 has them. Compiled as the product is: what its headers
// define is taken from here by everybody, and 60 invocations wait for it.
#include "app/cli/commands.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(command_tree)

namespace {

/// The full names of the commands that only speak to people.
void find_mute(const CLI::App& at, const std::string& name,
               std::vector<std::string>& mute) {
  auto inner = at.get_subcommands(
    [](const CLI::App* sub) { return !sub->get_group().empty(); });
  for (auto sub : inner)
    find_mute(*sub, name + " " + sub->get_name(), mute);
  if (inner.empty() && !at.get_option_no_throw("--json"))
    mute.push_back(name);
}

} // namespace

BOOST_AUTO_TEST_CASE(speaks_json_in_every_command_that_answers) {
  CLI::App app{"", "troupe"};
  invocation call;
  build_command_line(app, call);
  std::vector<std::string> mute;
  find_mute(app, "troupe", mute);
  // Their answer has a form of its own.
  const std::vector<std::string> known{"troupe config template",
                                       "troupe openapi", "troupe completion",
                                       "troupe man", "troupe help"};
  for (const auto& name : mute)
    BOOST_TEST(std::ranges::count(known, name) == 1, name);
}

BOOST_AUTO_TEST_SUITE_END()
