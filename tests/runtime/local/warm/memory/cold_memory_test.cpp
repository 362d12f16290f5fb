#include "tests/runtime/local/warm/warm_pair.hpp"
#include "tests/support/temporary_directory.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace troupe::test {

BOOST_AUTO_TEST_SUITE(cold_memory)

namespace {

namespace fs = std::filesystem;

/// An interpreter that imports 64 MiB of small objects before it is forked.
class laden_host {
public:
  explicit laden_host(bool cold_memory) {
    const auto venv = (scratch_.path() / "venv").string();
    const auto made = std::system(
      ("/usr/bin/python3 -m venv --copies --without-pip " + venv).c_str());
    BOOST_REQUIRE(made == 0);
    for (const auto& at : fs::directory_iterator{venv + "/lib"})
      std::ofstream{at.path() / "site-packages" / "laden.py"}
        << "TABLE = [[n, 'x' * 400 + str(n)] for n in range(120_000)]\n";
    local_options options;
    options.python = venv + "/bin/python3";
    options.zygote.preload.push_back("laden");
    options.zygote.cold_memory = cold_memory;
    options.zygote.hot_blocks = false;
    host_.emplace(options);
    BOOST_REQUIRE(
      eventually([&] { return host_->backend().slots().zygotes == 1; }));
  }

  std::string value_of(const std::string& source) {
    const auto r = host_->run(tool("import laden\n" + source));
    BOOST_REQUIRE_MESSAGE(r.status == run_status::success, r.failure.message);
    return r.value_json;
  }
  std::uint64_t warm_runs() { return host_->backend().slots().runs; }

private:
  tests::temporary_directory scratch_;
  std::optional<local_host> host_;
};

} // namespace

BOOST_AUTO_TEST_CASE(is_what_it_was_and_every_runs_own) {
  laden_host host{true};
  const auto before = host.warm_runs();
  BOOST_TEST(
    host.value_of("def f():\n"
                  "  return sum('/memfd:cold' in line\n"
                  "             for line in open('/proc/self/maps'))\n")
    == "1");
  const std::string sum = "  n = sum(row[0] + len(row[1]) for row in "
                          "laden.TABLE)\n";
  const auto whole = host.value_of("def f():\n" + sum + "  return n\n");
  BOOST_TEST(whole != "0");
  // A run that changes all of it sees its changes, and is the only one.
  const auto changed = host.value_of("def f():\n"
                                     "  for row in laden.TABLE: row[0] += 1\n"
                                     + sum + "  return n - len(laden.TABLE)\n");
  BOOST_TEST(changed == whole);
  BOOST_TEST(host.value_of("def f():\n" + sum + "  return n\n") == whole);
  BOOST_TEST(host.warm_runs() >= before + 4); // and what compiles for them
}

BOOST_AUTO_TEST_CASE(is_left_where_it_is_by_who_does_not_want_it_moved) {
  laden_host host{false};
  BOOST_TEST(
    host.value_of("def f():\n"
                  "  return [len(laden.TABLE), any('/memfd:cold' in line\n"
                  "          for line in open('/proc/self/maps'))]\n")
    == "[120000,false]");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::test
