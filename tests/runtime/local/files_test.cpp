// Files of runs on this machine, warm and cold, at every level.
#include "tests/runtime/local/warm/warm_pair.hpp"

#include <boost/test/unit_test.hpp>

#include <filesystem>

namespace troupe::test {

BOOST_AUTO_TEST_SUITE(local_files)

namespace {

prepared_run with_files(prepared_run run) {
  run.files = {{"data/in.csv", "1,2"}};
  run.outputs = {"*.txt"};
  return run;
}

prepared_run copying(language lang) {
  return with_files(lang == language::python
                      ? tool("def f():\n  open('out.txt', 'w').write("
                             "open('data/in.csv').read())\n")
                      : tool("const fs = require('fs')\nexports.f = () => "
                             "fs.copyFileSync('data/in.csv', 'out.txt')",
                             "{}", lang));
}

prepared_run a_command(std::string line) {
  auto run = with_files(tool(""));
  run.kind = run_kind::command;
  run.command = std::move(line);
  return run;
}

void check_copy(const run_result& r) {
  BOOST_TEST((r.status == run_status::success), r.failure.friendly << r.detail);
  BOOST_REQUIRE(r.files.size() == 1u);
  BOOST_TEST(r.files[0].name == "out.txt");
  BOOST_TEST(r.files[0].content == "1,2");
}

} // namespace

BOOST_AUTO_TEST_CASE(come_and_go_on_every_way) {
  for (auto* host : {&warm_python(), &cold_host()})
    for (int again = 0; again < 3; ++again)
      check_copy(host->run(copying(language::python)));
  for (auto* host : {&warm_node(), &cold_host()})
    for (int again = 0; again < 2; ++again)
      check_copy(host->run(copying(language::javascript)));
  check_copy(cold_host().run(a_command("cat data/in.csv > out.txt")));
}

BOOST_AUTO_TEST_CASE(come_and_go_at_every_level) {
  for (auto level : {isolation_level::strict, isolation_level::standard,
                     isolation_level::best_effort, isolation_level::off}) {
    auto run = copying(language::python);
    run.isolation = level;
    check_copy(shared_host().run(run));
    auto command = a_command("cat data/in.csv > out.txt");
    command.isolation = level;
    check_copy(shared_host().run(command));
  }
}

BOOST_AUTO_TEST_CASE(are_not_there_for_the_next_run) {
  check_copy(shared_host().run(copying(language::python)));
  auto next = tool("import os\ndef f(): return sorted(os.listdir('.'))");
  const auto r = shared_host().run(next);
  BOOST_TEST(r.value_json.find("in.csv") == std::string::npos);
  BOOST_TEST(r.value_json.find("out.txt") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(that_do_not_fit_are_the_runs_disk_limit_and_say_so) {
  auto run = copying(language::python);
  run.files.push_back({"large", std::string(4u << 20, 'x')});
  run.limits.disk_bytes = 1u << 20;
  const auto r = shared_host().run(run);
  BOOST_TEST((r.status == run_status::error));
  BOOST_TEST(r.failure.message.find("large") != std::string::npos,
             r.failure.message);
}

BOOST_AUTO_TEST_CASE(do_not_lead_to_what_the_run_could_not_read) {
  // What only the engine may read, reached by a link, a swapped directory and a
  // file that never ends.
  auto run = tool("import os, threading\ndef f():\n"
                  "  os.symlink('/proc/1/environ', 'a.txt')\n"
                  "  os.symlink('/root/.bashrc', 'b.txt')\n"
                  "  os.mkdir('d')\n  os.rename('d', 'e')\n"
                  "  os.symlink('/etc', 'd')\n"
                  "  os.symlink('/dev/zero', 'z.txt')\n");
  run.outputs = {"*.txt", "d/*", "**/*.txt"};
  const auto r = shared_host().run(run);
  BOOST_TEST((r.status == run_status::success), r.failure.friendly);
  BOOST_TEST(r.files.empty());
}

BOOST_AUTO_TEST_CASE(of_a_run_that_was_ended_are_lost) {
  auto run = tool("import time\ndef f():\n  open('a.txt', 'w').write('x')\n"
                  "  time.sleep(1000)\n");
  run.outputs = {"*.txt"};
  run.limits.wall = std::chrono::milliseconds{500};
  const auto r = shared_host().run(run);
  BOOST_TEST((r.reason == exit_reason::wall_timeout));
  BOOST_TEST(r.files.empty());
}

BOOST_AUTO_TEST_CASE(a_script_runs_once_warm_and_cold) {
  for (auto* host : {&warm_python(), &cold_host()}) {
    auto run = tool("def main(): print('sent')\n"
                    "if __name__ == '__main__': main()\n");
    run.function.clear();
    run.may_be_script = true;
    for (int again = 0; again < 4; ++again) // then it comes compiled
      BOOST_TEST(host->run(run).stdout_text == "sent\n");
  }
  for (auto* host : {&warm_node(), &cold_host()}) {
    auto run = tool("setTimeout(() => console.log('later'), 5)\n", "{}",
                    language::javascript);
    run.function.clear();
    run.may_be_script = true;
    for (int again = 0; again < 4; ++again)
      BOOST_TEST(host->run(run).stdout_text == "later\n");
  }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::test
