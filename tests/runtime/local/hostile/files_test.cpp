#include "tests/runtime/local/support.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <filesystem>
#include <fstream>

// What a tool finds when it looks for what is not its own.

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(hostile_files)

namespace {

struct row {
  const char* name;
  const char* line;    // for sh
  const char* inside;  // its output
  const char* outside; // "": not tried
};

constexpr std::array rows{
  row{"host_root", "echo $(ls /)",
      "bin dev etc lib lib32 lib64 opt proc sbin tmp usr", ""},
  row{"shadow", "cat /etc/shadow 2>&1 >/dev/null | tail -c 26",
      "No such file or directory", ""},
  row{"root_home", "test -e /root && echo there || echo none", "none", "there"},
  row{"var", "test -e /var && echo there || echo none", "none", "there"},
  row{"run", "test -e /run && echo there || echo none", "none", "there"},
  row{"sys", "test -e /sys && echo there || echo none", "none", "there"},
  row{"machine_id", "test -e /etc/machine-id && echo there || echo none",
      "none", ""},
  row{"private_keys", "test -e /etc/ssl/private && echo there || echo none",
      "none", ""},
  row{"dot_dot", "cd /tmp; ls ../../../../root 2>&1 | tail -c 26",
      "No such file or directory", ""},
  row{"through_proc_root", "ls /proc/self/root/root 2>&1 | tail -c 26",
      "No such file or directory", ""},
  row{"through_proc_cwd", "ls /proc/self/cwd/../root 2>&1 | tail -c 26",
      "No such file or directory", ""},
  row{"through_link", "ln -s /etc/shadow /tmp/l; cat /tmp/l 2>&1 | tail -c 26",
      "No such file or directory", ""},
  row{"hard_link_to_shared", "ln /usr/bin/true /tmp/t 2>/dev/null; echo $?",
      "1", ""},
  row{"write_usr", "echo x 2>/dev/null > /usr/x; echo $?", "2", ""},
  row{"write_etc", "echo x 2>/dev/null > /etc/passwd; echo $?", "2", ""},
  row{"write_root", "echo x 2>/dev/null > /x; echo $?", "2", ""},
  row{"write_runner",
      "echo x 2>/dev/null >> /opt/troupe/runners/python/serve.py; echo $?", "2",
      ""},
  row{"replace_library", "rm -f /usr/lib/os-release 2>/dev/null; echo $?", "1",
      ""},
  row{"touch_shared", "touch /usr/bin/true 2>/dev/null; echo $?", "1", ""},
  row{"devices", "echo $(ls /dev)",
      "fd full null random shm stderr stdin stdout urandom zero", ""},
  row{"make_device",
      "mknod /tmp/mem c 1 1 2>/dev/null && cat /tmp/mem | head -c 1; echo $?",
      "1", ""},
  row{"proc_holds_processes_only", "ls /proc | grep -v '^[0-9]' | tr '\\n' ' '",
      "self thread-self ", ""},
  row{"pid_1_is_hidden", "test -e /proc/1 && echo there || echo none", "none",
      "there"},
  row{"kernel_command_line", "test -e /proc/cmdline && echo there || echo none",
      "none", "there"},
  row{"sysctl", "test -e /proc/sys && echo there || echo none", "none",
      "there"},
  row{"write_proc", "echo 0 2>/dev/null > /proc/self/oom_score_adj; echo $?",
      "2", "0"},
  row{"core_pattern", "ulimit -c", "0", ""},
  row{"user", "id -u; id -g", "1000\n1000", ""},
  row{"groups", "grep -c 'Groups:.*0' /proc/self/status", "0", ""},
  row{"host_name", "uname -n", "sandbox", ""},
  row{"cgroup_names", "cut -d: -f3 /proc/self/cgroup | sort -u", "/", ""},
  row{"terminal", "test -e /dev/tty && echo there || echo none", "none", ""},
  row{"variables",
      "env | cut -d= -f1 | grep -v -e PWD -e SHLVL -e _ | sort "
      "| tr '\\n' ' '",
      "HOME LANG PATH PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED "
      "PYTHONWARNINGS TERM TMPDIR ",
      ""},
  row{"descriptors", "ls -m /proc/self/fd", "0, 1, 2, 3", ""},
  row{"standard_input", "readlink /proc/$$/fd/0", "/dev/null", ""},
  row{"shared_memory_is_private",
      "echo a > /dev/shm/a; cat /dev/shm/a; ls /dev/shm | wc -l", "a\n1", ""},
  row{"tmp_is_empty", "ls -A /tmp | wc -l", "0", ""},
  row{"interfaces", "cat /proc/net/dev 2>/dev/null | grep -c :", "0", ""},
  row{"set_uid_program_gains_nothing",
      "/usr/bin/su -c id 2>/dev/null </dev/null; test $? -ne 0 && echo no",
      "no", ""},
};

std::string trimmed(std::string text) {
  while (text.ends_with('\n'))
    text.pop_back();
  return text;
}

} // namespace

BOOST_AUTO_TEST_CASE(shows_nothing_of_the_host) {
  for (const auto& r : rows) {
    auto got = trimmed(shared_host().run(shell(r.line)).stdout_text);
    BOOST_TEST(got == r.inside,
               r.name << ": '" << got << "' instead of '" << r.inside << "'");
  }
}

BOOST_AUTO_TEST_CASE(would_see_the_host_without_isolation) {
  for (const auto& r : rows) {
    if (*r.outside == '\0')
      continue;
    auto run = shell(r.line);
    run.isolation = isolation_level::off;
    auto got = trimmed(shared_host().run(run).stdout_text);
    BOOST_TEST(got == r.outside,
               r.name << ": '" << got << "' instead of '" << r.outside << "'");
  }
}

BOOST_AUTO_TEST_CASE(leaves_no_file_for_the_next_run) {
  auto& host = shared_host();
  host.run(shell("echo secret > /tmp/left; echo secret > /dev/shm/left"));
  auto r
    = host.run(shell("cat /tmp/left /dev/shm/left 2>/dev/null; ls -A /tmp"));
  BOOST_TEST(r.stdout_text == "");
}

BOOST_AUTO_TEST_CASE(shows_what_the_engine_decided_to_show) {
  auto& host = shared_host();
  auto place = host.state_dir() + "/shown";
  std::filesystem::create_directories(place);
  std::ofstream{place + "/file"} << "seen";
  auto run = shell("cat /data/file; echo x 2>/dev/null > /data/file; echo $?");
  run.mounts.push_back({place, "/data", false});
  BOOST_TEST(host.run(run).stdout_text == "seen2\n");
}

BOOST_AUTO_TEST_CASE(writes_into_a_directory_that_persists) {
  auto& host = shared_host();
  auto place = host.state_dir() + "/kept";
  std::filesystem::create_directories(place);
  auto run = shell("pwd; echo kept > /work/file; cat file");
  run.mounts.push_back({place, "/work", true});
  run.working_dir = "/work";
  auto first = host.run(run);
  BOOST_TEST(first.stdout_text == "/work\nkept\n", first.stderr_text);
  // Whatever uid the next run has, it can go on with what the first one left.
  run.id = {};
  run.command = "echo more >> /work/file; cat /work/file";
  auto second = host.run(run);
  BOOST_TEST(second.stdout_text == "kept\nmore\n", second.stderr_text);
}

BOOST_AUTO_TEST_CASE(passes_bits_by_locks_on_the_hosts_files_and_no_further) {
  // Not promised (runtime/local/README.md). If this fails, it is time to.
  const std::string lock
    = "exec 9</usr/bin/env; flock -n 9 && echo ours || echo held;"
      " echo x > /tmp/mine; exec 8</tmp/mine; flock -n 8 && echo mine;";
  auto first = shell(lock + "sleep 1000");
  first.id = run_id::make();
  auto seen = shared_host().start(first);
  BOOST_REQUIRE(seen->wait_for_output("mine"));
  BOOST_TEST(seen->output() == "ours\nmine\n");
  BOOST_TEST(shared_host().run(shell(lock)).stdout_text == "held\nmine\n");
  shared_host().backend().cancel(first.id, exit_reason::cancelled);
  seen->wait();
}

BOOST_AUTO_TEST_CASE(writes_there_from_a_tool_as_well) {
  auto& host = shared_host();
  auto place = host.state_dir() + "/kept-by-a-tool";
  std::filesystem::create_directories(place);
  prepared_run run;
  run.name = run.function = "f";
  run.source = "def f():\n    with open('/work/file', 'a+') as file:\n"
               "        file.write('x')\n    return open('/work/file').read()";
  run.mounts.push_back({place, "/work", true});
  for (const char* so_far : {R"("x")", R"("xx")"})
    BOOST_TEST(host.run(run).value_json == so_far);
}

/// The path would be missing, or be something else of the host.
BOOST_AUTO_TEST_CASE(shows_nothing_elsewhere_without_a_tree) {
  auto run = shell("true");
  run.mounts.push_back({"/usr", "/data", false});
  run.isolation = isolation_level::off;
  auto refused = shared_host().start(run)->wait();
  BOOST_REQUIRE(!refused.answer.has_value());
  BOOST_TEST((refused.answer.error().code == ec::unavailable));
  run.mounts = {{"/usr", "/usr", false}}; // where it is anyway
  BOOST_TEST(shared_host().run(run).stdout_text == "");
}

/// What was looked at and what is mounted must be the same, though a tenant
/// may own the way and put a link there in between.
BOOST_AUTO_TEST_CASE(mounts_nothing_through_a_link) {
  namespace fs = std::filesystem;
  auto& host = shared_host();
  fs::path place = host.state_dir() + "/swapped";
  fs::create_directories(place / "real/below");
  fs::create_directory_symlink("real", place / "middle");
  fs::create_directory_symlink("/etc", place / "last");
  const auto ends
    = [&](prepared_run run, const fs::path& host_path, bool writable) {
        run.mounts.push_back({host_path.string(), "/data", writable});
        return host.run(run).reason;
      };
  prepared_run tool;
  tool.name = tool.function = "f";
  tool.source = "exports.f = () => 1";
  tool.lang = language::javascript;
  for (const auto& run : {shell("true"), tool})
    for (bool writable : {false, true}) {
      BOOST_TEST_CONTEXT(to_string(run.lang) << (writable ? " writing" : "")) {
        BOOST_TEST(
          (ends(run, place / "real/below", writable) == exit_reason::exited));
        for (auto hostile : {place / "middle/below", place / "last"})
          BOOST_TEST(
            (ends(run, hostile, writable) == exit_reason::start_failed));
      }
    }
}

BOOST_AUTO_TEST_SUITE_END()
