// Every Python and every Node that the machine has, of those that are promised:
// each must at least run cold, and tell the same when it is warm. The usual one
// does so in warm_and_cold and node_warm_and_cold already.
#include "tests/runtime/local/warm/node_table.hpp"
#include "tests/runtime/local/warm/python_table.hpp"
#include "tests/runtime/local/warm/warm_pair.hpp"

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace troupe::test {

BOOST_AUTO_TEST_SUITE(versions)

namespace {

namespace fs = std::filesystem;

std::string told_by(const std::string& command) {
  std::string text;
  if (auto* pipe = ::popen(command.c_str(), "r")) {
    for (char line[256]; std::fgets(line, sizeof line, pipe) != nullptr;)
      text += line;
    ::pclose(pipe);
  }
  while (text.ends_with('\n'))
    text.pop_back();
  return text;
}

/// Where people keep several: beside the system's, in pyenv, in nvm.
std::vector<std::string> candidates(const std::string& program) {
  std::vector<std::string> all{"/usr/bin/" + program,
                               "/usr/local/bin/" + program};
  const char* home = std::getenv("HOME");
  for (const auto* below : {"/.pyenv/versions", "/.nvm/versions/node"}) {
    std::error_code code;
    for (const auto& entry :
         fs::directory_iterator{(home ? home : "") + std::string{below}, code})
      all.push_back(entry.path().string() + "/bin/" + program);
  }
  for (int minor = 9; program == "python3" && minor <= 13; ++minor)
    for (const auto* place : {"/usr/bin/", "/usr/local/bin/"})
      all.push_back(place + std::string{"python3."} + std::to_string(minor));
  return all;
}

/// Path by version, as "3.11" and "20"; nothing older or newer.
std::map<std::string, std::string> installed(const std::string& program,
                                             const std::string& how_to_ask,
                                             int oldest, int newest) {
  std::map<std::string, std::string> found;
  for (const auto& path : candidates(program)) {
    if (::access(path.c_str(), X_OK) != 0)
      continue;
    const auto version = told_by(path + how_to_ask);
    const auto dot = version.rfind('.');
    const int number
      = std::atoi(version.c_str() + (dot == version.npos ? 0 : dot + 1));
    if (number >= oldest && number <= newest)
      found.emplace(version, path);
  }
  return found;
}

/// As the host's own: one backend with a warm interpreter, one without.
struct pair_of_hosts {
  local_host warm;
  local_host cold;

  explicit pair_of_hosts(const local_options& options)
      : warm{options}, cold{[options] {
          auto without = options;
          without.zygote.enabled = false;
          return without;
        }()} {}

  /// Whether the table is another suite's matter.
  static bool is_usual(const std::string& version, const prepared_run& asks) {
    return cold_host().run(asks).value_json == version;
  }

  bool is_warm(zygote::family of) {
    return eventually([&] {
      const auto now = warm.backend().slots(of);
      return now.zygotes > 0 && now.trouble.empty();
    });
  }
};

} // namespace

BOOST_AUTO_TEST_CASE(of_python_run_everything_cold_and_warm) {
  const auto all = installed("python3",
                             " -I -c 'import sys;"
                             "print(\"%d.%d\" % sys.version_info[:2])'",
                             9, 13);
  BOOST_REQUIRE(!all.empty());
  for (const auto& [version, path] : all)
    BOOST_TEST_CONTEXT("Python " << version << ", " << path) {
      BOOST_TEST_MESSAGE("Python " << version);
      local_options options;
      options.python = path;
      pair_of_hosts hosts{options};
      const auto asks = tool("import sys\ndef f():\n"
                             "  return '%d.%d' % sys.version_info[:2]\n");
      const auto quoted = "\"" + version + "\"";
      BOOST_TEST(hosts.cold.run(asks).value_json == quoted);
      BOOST_TEST_REQUIRE(hosts.is_warm(zygote::family::python),
                         hosts.warm.backend().slots().trouble);
      if (pair_of_hosts::is_usual(quoted, asks))
        continue;
      const auto before = hosts.warm.backend().slots().runs;
      for (const auto& [name, source] : python_table())
        BOOST_TEST_CONTEXT(name)
      BOOST_TEST(essence(hosts.warm.run(tool(source)))
                 == essence(hosts.cold.run(tool(source))));
      BOOST_TEST(hosts.warm.backend().slots().runs
                 >= before + python_table().size());
    }
}

BOOST_AUTO_TEST_CASE(of_node_run_everything_cold_and_warm) {
  const auto all
    = installed("node", " -p 'process.versions.node.split(\".\")[0]'", 20, 24);
  if (all.empty()) {
    BOOST_TEST_MESSAGE("skipped: " << lacks_warm_node());
    return;
  }
  for (const auto& [version, path] : all)
    BOOST_TEST_CONTEXT("Node " << version << ", " << path) {
      BOOST_TEST_MESSAGE("Node " << version);
      local_options options;
      options.node = path;
      pair_of_hosts hosts{options};
      const auto script = [](const std::string& source) {
        return tool(source, "{}", language::javascript);
      };
      const auto asks
        = script("exports.f = () => process.versions.node.split('.')[0]");
      const auto quoted = "\"" + version + "\"";
      BOOST_TEST(hosts.cold.run(asks).value_json == quoted);
      hosts.warm.run(script("exports.f = () => 1")); // it starts with that
      if (!hosts.is_warm(zygote::family::node))      // not promised of each
        BOOST_TEST_MESSAGE(
          "not warm: "
          << hosts.warm.backend().slots(zygote::family::node).trouble);
      if (pair_of_hosts::is_usual(quoted, asks) && lacks_warm_node().empty())
        continue;
      for (const auto& [name, source] : node_table())
        BOOST_TEST_CONTEXT(name)
      BOOST_TEST(essence(hosts.warm.run(script(source)))
                 == essence(hosts.cold.run(script(source))));
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::test
