// The commands as CLI11 has them. Compiled as the product is: what its headers
// define is taken from here by everybody, and 60 invocations wait for it.
#include "app/cli/commands.hpp"
#include "app/cli/examples.hpp"
#include "app/cli/global_options.hpp"
#include "app/cli/help_format.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <sstream>
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

/// All that can be typed, without the groups.
void find_leaves(const CLI::App& at, std::vector<const CLI::App*>& leaves) {
  auto inner = at.get_subcommands(
    [](const CLI::App* sub) { return !sub->get_group().empty(); });
  for (auto sub : inner)
    find_leaves(*sub, leaves);
  if (inner.empty())
    leaves.push_back(&at);
}

/// As a shell takes it apart, from behind `troupe` to a pipe, a file or
/// another command.
std::vector<std::string> words_of(std::string line) {
  line = line.substr(line.find("troupe ") + 7);
  if (line.ends_with(')'))
    line.pop_back();
  std::vector<std::string> words(1);
  bool quoted = false;
  for (char c : line)
    if (c == '\'')
      quoted = !quoted;
    else if (c == ' ' && !quoted)
      words.emplace_back();
    else
      words.back() += c;
  const auto end = std::ranges::find_if(
    words, [](const auto& w) { return w == "|" || w == ">" || w == "&&"; });
  words.erase(end, words.end());
  return words;
}

} // namespace

BOOST_AUTO_TEST_CASE(shows_an_example_of_every_command) {
  CLI::App app{"", "troupe"};
  invocation call;
  build_command_line(app, call);
  std::vector<const CLI::App*> leaves;
  find_leaves(app, leaves);
  for (const auto* command : leaves) {
    const auto name = command_path(*command);
    const auto example = examples_of(name);
    BOOST_TEST(!example.empty(), name);
    BOOST_TEST(example.find("troupe " + name) != std::string_view::npos, name);
    BOOST_TEST(command->help().find("Examples:\n  ") != std::string::npos,
               name);
  }
  // And none of a command that is gone.
  BOOST_TEST(command_examples().size() == leaves.size());
}

BOOST_AUTO_TEST_CASE(understands_its_own_examples) {
  for (const auto& [name, lines] : command_examples()) {
    std::istringstream all{std::string{lines}};
    for (std::string line; std::getline(all, line);) {
      if (name == "help") // taken before anything is parsed
        continue;
      CLI::App app{"", "troupe"};
      invocation call;
      build_command_line(app, call);
      auto words = options_behind_command(app, words_of(line));
      std::ranges::reverse(words);
      BOOST_CHECK_NO_THROW(app.parse(std::move(words)));
      BOOST_TEST(static_cast<bool>(call.chosen()), line);
    }
  }
}

BOOST_AUTO_TEST_CASE(explains_what_commands_share_in_one_place) {
  CLI::App app{"", "troupe"};
  invocation call;
  build_command_line(app, call);
  const auto help
    = app.get_subcommand("tool")->get_subcommand("put")->help("troupe tool");
  BOOST_TEST(help.find("--tag TAG") != std::string::npos, help);
  BOOST_TEST(help.find("PEM file") == std::string::npos, help);
  BOOST_TEST(help.find("--server, --key-file") != std::string::npos, help);
  for (auto noise : {"TEXT", "UINT", " in [", "REQUIRED"})
    BOOST_TEST(help.find(noise) == std::string::npos, help);
}

BOOST_AUTO_TEST_CASE(speaks_json_in_every_command_that_answers) {
  CLI::App app{"", "troupe"};
  invocation call;
  build_command_line(app, call);
  std::vector<std::string> mute;
  find_mute(app, "troupe", mute);
  // Their answer has a form of its own; `forward` gives none, and leads on
  // until it is interrupted; `shell` is for people.
  const std::vector<std::string> known{"troupe config template",
                                       "troupe openapi",
                                       "troupe completion",
                                       "troupe man",
                                       "troupe help",
                                       "troupe mcp",
                                       "troupe sandbox forward",
                                       "troupe sandbox shell"};
  for (const auto& name : mute)
    BOOST_TEST(std::ranges::count(known, name) == 1, name);
}

BOOST_AUTO_TEST_SUITE_END()
