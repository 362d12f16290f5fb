#include "tests/runtime/local/warm/warm_pair.hpp"
#include "tests/support/temporary_directory.hpp"

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>

namespace troupe::test {

namespace {

namespace fs = std::filesystem;

/// An interpreter that steps through its own writes is slow on a busy host.
bool at_last(const std::function<bool()>& done) {
  for (int i = 0; i < 6; ++i)
    if (eventually(done))
      return true;
  return false;
}

fs::path profile_in(const std::string& directory) {
  for (const auto& entry : fs::directory_iterator{directory})
    if (entry.path().filename().string().starts_with("hot-blocks-"))
      return entry.path();
  return {};
}

local_options eager(const std::string& state_dir = {}) {
  local_options options;
  options.state_dir = state_dir;
  options.zygote.learn_after = 0;
  options.zygote.node = false;
  return options;
}

prepared_run counting() {
  return tool("import random\ndef f(word):\n  print(word)\n"
              "  return [word * 2, random.random() < 2, {'n': len(word)}]\n",
              R"({"word": "ab"})");
}

void check_runs(local_host& host) {
  for (int i = 0; i < 3; ++i) {
    const auto r = host.run(counting());
    BOOST_TEST(r.value_json == R"(["abab",true,{"n":2}])");
    BOOST_TEST(r.stdout_text == "ab\n");
  }
  const auto failed = host.run(tool("def f():\n  return {}['x']\n"));
  BOOST_TEST(failed.failure.name == "KeyError");
}

} // namespace

BOOST_AUTO_TEST_SUITE(hot_blocks)

#ifdef __x86_64__
BOOST_AUTO_TEST_CASE(are_learned_once_and_laid_side_by_side) {
  tests::temporary_directory kept;
  const auto state_dir = kept.path().string();
  {
    local_host host{eager(state_dir)};
    check_runs(host); // whichever interpreter carries them
    BOOST_REQUIRE(
      at_last([&] { return host.backend().slots().hot_blocks > 100; }));
    check_runs(host);
    BOOST_TEST(host.backend().slots().restarts == 0u);
  }
  const auto profile = profile_in(state_dir);
  BOOST_REQUIRE(!profile.empty());
  const auto written = fs::last_write_time(profile);
  local_host again{eager(state_dir)};
  BOOST_TEST(at_last([&] { return again.backend().slots().hot_blocks > 100; }));
  check_runs(again);
  BOOST_TEST((fs::last_write_time(profile) == written));
}
#endif

BOOST_AUTO_TEST_CASE(are_left_alone_where_the_profile_is_broken) {
  tests::temporary_directory kept;
  {
    local_host host{eager(kept.path().string())};
    BOOST_REQUIRE(
      at_last([&] { return !profile_in(host.state_dir()).empty(); }));
  }
  const auto profile = profile_in(kept.path().string());
  const auto size = fs::file_size(profile);
  for (const auto cut : {std::uintmax_t{0}, std::uintmax_t{9}, size / 2}) {
    fs::resize_file(profile, cut);
    local_host host{eager(kept.path().string())};
    BOOST_REQUIRE(at_last([&] { return host.backend().slots().zygotes > 0; }));
    BOOST_TEST(host.backend().slots().hot_blocks == 0u);
    check_runs(host);
  }
  // Names that no interpreter asks for.
  std::ofstream{profile, std::ios::binary} << "trphot03" << std::string(8, '\1')
                                           << std::string(4096, '\xff');
  local_host host{eager(kept.path().string())};
  check_runs(host);
}

BOOST_AUTO_TEST_CASE(are_not_looked_for_by_who_does_not_want_them) {
  auto options = eager();
  options.zygote.hot_blocks = false;
  local_host host{options};
  BOOST_REQUIRE(at_last([&] { return host.backend().slots().zygotes > 0; }));
  check_runs(host);
  BOOST_TEST(profile_in(host.state_dir()).empty());
  BOOST_TEST(host.backend().slots().hot_blocks == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::test
