// The tables of hostile questions, asked from Python, warm and cold, Node and
// shell, and their twins.
#include "runtime/json/json.hpp"
#include "tests/runtime/local/hostile/probes.hpp"
#include "tests/runtime/local/ready_host.hpp"
#include "tests/runtime/local/warm/warm_pair.hpp"

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(hostile_tables)

namespace {

using answers = std::map<std::string, std::string>;

/// Who asks: a language, and how its process comes to be.
struct asker {
  const char* name;
  language lang;
  local_host& (*host)();
};
constexpr asker askers[] = {{"warm python", language::python, warm_python},
                            {"cold python", language::python, cold_host},
                            {"warm node", language::javascript, warm_node},
                            {"ready node", language::javascript, ready_host},
                            {"node", language::javascript, cold_host},
                            {"shell", language::shell, cold_host}};

/// What a tool must not find: a file of the host, and the engine itself.
struct bait {
  std::string directory = cold_host().state_dir() + "/bait";

  bait() {
    std::filesystem::create_directories(directory);
    std::ofstream{directory + "/marker"} << "secret of the host";
  }
  std::string fill_in(std::string target) const {
    const auto replace = [&](std::string_view what, std::string_view by) {
      if (auto at = target.find(what); at != target.npos)
        target.replace(at, what.size(), by);
    };
    replace("/@host@", directory);
    replace("@host@", directory);
    replace("@engine@", std::to_string(::getpid()));
    return target;
  }
};

bool is_one_of(std::string_view answer, std::string_view expected) {
  while (true) {
    auto word = expected.substr(0, expected.find('|'));
    if (answer == word)
      return true;
    if (word.size() == expected.size())
      return false;
    expected.remove_prefix(word.size() + 1);
  }
}

answers parse(const run_result& r, language lang) {
  answers out;
  if (lang == language::shell) {
    std::istringstream lines{r.stdout_text};
    for (std::string name, answer; lines >> name >> answer;)
      out[name] = answer;
    return out;
  }
  auto value = json::parse_object(r.value_json);
  BOOST_REQUIRE_MESSAGE(value, r.value_json << r.stderr_text);
  for (const auto& [name, answer] : *value)
    out[name] = answer.is_string() ? answer.as_string().c_str() : "?";
  return out;
}

answers run_asked(local_host& host, language lang, std::string source,
                  isolation_level level) {
  prepared_run run;
  run.organization = default_organization();
  run.lang = lang;
  run.name = run.function = "f";
  run.network.mode = network_mode::off;
  run.isolation = level;
  run.limits.wall = std::chrono::seconds{60};
  if (lang == language::shell) {
    run.kind = run_kind::command;
    run.command = std::move(source);
  } else {
    run.kind = run_kind::source;
    run.source = std::move(source);
  }
  // Off is never carried by a process that waited.
  return parse(
    level == isolation_level::off ? host.run(run) : run_there(host, run), lang);
}

} // namespace

BOOST_AUTO_TEST_CASE(hold_at_least_eighty_rows_with_a_twin) {
  auto with_twin = std::ranges::count_if(
    call_rows(), [](const auto& r) { return *r.outside != '\0'; });
  with_twin += static_cast<std::ptrdiff_t>(path_rows().size());
  BOOST_TEST(with_twin >= 80);
  BOOST_TEST_MESSAGE(call_rows().size() + path_rows().size()
                     << " rows, " << with_twin << " with a twin");
}

BOOST_AUTO_TEST_CASE(are_refused_every_path) {
  const bait b;
  std::vector<question> all;
  for (const auto& r : path_rows())
    all.push_back({r.name, r.what, b.fill_in(r.target)});
  for (const auto& who : askers) {
    auto got = run_asked(who.host(), who.lang, ask_in(who.lang, all),
                         isolation_level::standard);
    for (const auto& r : path_rows())
      BOOST_TEST(is_one_of(got[r.name], r.inside),
                 who.name << " " << r.rule << " " << r.name << ": "
                          << got[r.name] << " instead of " << r.inside);
  }
}

BOOST_AUTO_TEST_CASE(would_be_granted_the_same_deeds_elsewhere) {
  const bool is_root = ::geteuid() == 0;
  const bait b;
  std::vector<question> inside, outside;
  // What some deeds need to be there first.
  for (int i = 1; i <= 8; ++i)
    inside.push_back(
      {"made" + std::to_string(i), deed::write, "/tmp/w" + std::to_string(i)});
  for (const auto& r : path_rows())
    if (std::string_view{r.twin} != "outside")
      inside.push_back({r.name, r.what, r.twin});
    else if (is_root)
      outside.push_back({r.name, r.what, b.fill_in(r.target)});
  // Linking and removing come in the table's order, each on a file of its own.
  for (const auto& who : askers) {
    auto got = run_asked(who.host(), who.lang, ask_in(who.lang, inside),
                         isolation_level::standard);
    for (const auto& q : inside)
      BOOST_TEST(got[q.name] == "OK",
                 who.name << " " << q.name << " at " << q.target << ": "
                          << got[q.name]);
    got = run_asked(who.host(), who.lang, ask_in(who.lang, outside),
                    isolation_level::off);
    for (const auto& q : outside)
      BOOST_TEST(got[q.name] == "OK",
                 who.name << " outside " << q.name << ": " << got[q.name]);
  }
}

BOOST_AUTO_TEST_CASE(are_refused_every_call) {
  for (auto level : {isolation_level::standard, isolation_level::strict})
    for (auto* host : {&warm_host(), &cold_host()}) {
      auto got = run_asked(*host, language::python,
                           ask_calls(call_rows(), false), level);
      for (const auto& r : call_rows())
        BOOST_TEST(is_one_of(got[r.name], r.inside),
                   (host == &cold_host() ? "cold " : "warm ")
                     << r.rule << " " << r.name << ": " << got[r.name]
                     << " instead of " << r.inside);
    }
}

BOOST_AUTO_TEST_CASE(would_reach_the_kernel_with_the_same_calls) {
  if (::geteuid() != 0) {
    BOOST_TEST_MESSAGE("skipped: the outside column is root's");
    return;
  }
  auto got = run_asked(cold_host(), language::python,
                       ask_calls(call_rows(), true), isolation_level::off);
  for (const auto& r : call_rows())
    if (*r.outside != '\0')
      BOOST_TEST(is_one_of(got[r.name], r.outside),
                 r.name << ": " << got[r.name] << " instead of " << r.outside);
}

BOOST_AUTO_TEST_SUITE_END()
