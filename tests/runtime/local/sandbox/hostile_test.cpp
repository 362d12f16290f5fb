// The tables of hostile questions and deeds, asked and done inside of living
// sandboxes: what holds runs holds them, and they are there afterwards.
#include "runtime/json/json.hpp"
#include "tests/runtime/local/hostile/attack_cases.hpp"
#include "tests/runtime/local/hostile/probes.hpp"
#include "tests/runtime/local/sandbox/sandboxes.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

using namespace troupe;
using namespace troupe::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

BOOST_AUTO_TEST_SUITE(hostile_in_a_sandbox)

namespace {

using answers = std::map<std::string, std::string>;

/// Where a sandbox answers otherwise than a run. Its tree is its user's own; it
/// may watch it; of /proc what tells of the host is there and empty, as another
/// test sees, and settings are there and not to be written to.
const answers otherwise{
  {"homes", "OK"}, // its own
  {"write_usr", "OK"},
  {"write_root", "OK"},
  {"write_devices", "OK"}, // plain files
  {"console", "OK"},
  {"input_device", "OK"},
  {"terminals", "OK"},          // of its own
  {"terminal", "ENXIO|ENOENT"}, // this one has none
  {"open_up_root", "OK"},
  {"new_in_usr", "OK"},
  {"new_in_root", "OK"},
  // Copies of its own, with the one id that an ordinary user's sandboxes have.
  {"write_etc", "OK|EROFS|EACCES"},
  {"write_resolver", "OK|EROFS|EACCES"},
  {"remove_hosts", "OK|EROFS|EACCES|EPERM"},
  {"larger_files", "OK"},     // its disk as a whole is bounded
  {"write_runner", "ENOENT"}, // runs have one
  {"link_to_runner", "ENOENT"},
  {"inotify_init", "OK"},
  {"inotify_of_old", "OK"},
  {"inotify_watch", "EINVAL"},
  {"kernel_arguments", "OK|ENOENT"},
  {"interrupts", "OK|ENOENT"},
  {"kernel_config", "OK|ENOENT"},
  {"kernel_symbols", "OK|ENOENT"},
  {"kernel_memory", "OK|ENOENT"},
  {"keys", "OK|ENOENT"},
  {"timers", "OK|ENOENT"},
  {"partitions", "OK|ENOENT"},
  {"modules", "OK|ENOENT"},
  {"memory_of_the_host", "OK|ENOENT"},
  {"pages_of_the_host", "OK|ENOENT"},
  {"slabs", "OK|ENOENT"},
  {"kernel_log", "OK|ENOENT"},
  {"locks_of_the_host", "OK|ENOENT"},
  {"load", "OK|ENOENT"}, // which sysinfo says as well
  {"uptime", "OK|ENOENT"},
  {"connections", "OK|ENOENT"}, // of its own network
  {"unix_sockets_of_the_host", "OK|ENOENT"},
  {"core_pattern", "EACCES|EROFS|ENOENT"},
  {"drop_caches", "EACCES|EROFS|ENOENT"},
  {"forwarding", "EACCES|EROFS|ENOENT"},
  {"host_name_file", "EACCES|EROFS|ENOENT"},
  {"next_pid", "EACCES|EROFS|ENOENT"},
  {"overcommit", "EACCES|EROFS|ENOENT"},
  {"module_loader", "EACCES|EROFS|ENOENT"},
  {"sysrq", "EACCES|EROFS|ENOENT"},
  // Its network is its own, and has a loopback and no more.
  {"inet", "OK"},
  {"inet6", "OK|EAFNOSUPPORT"},
  {"inet_datagram", "OK"},
  {"inet_raw", "EPROTONOSUPPORT|EPERM|EACCES"},
  {"high_half_of_family", "OK"}}; // the kernel does not look at it

/// A terminal of its own that nothing is shown on: it reads until then.
constexpr std::string_view waits_for_ever = "terminal_maker";

process_request program_of(language lang, const std::string& source) {
  process_request what;
  what.argv = {lang == language::python    ? "python3"
                 : lang == language::shell ? "/bin/sh"
                                           : "node",
               "-"};
  if (lang == language::shell)
    what.argv.back() = "-s";
  what.input = source;
  return what;
}

/// Prints what `f` returns.
std::string calling(language lang, const std::string& source) {
  if (lang == language::python)
    return source + "\nimport json\nprint(json.dumps(f()))\n";
  return lang == language::shell
    ? source
    : source + "\nconsole.log(JSON.stringify(f()));\n";
}

answers parse(const std::string& said, language lang) {
  answers out;
  if (lang == language::shell) {
    std::istringstream lines{said};
    for (std::string name, answer; lines >> name >> answer;)
      out[name] = answer;
    return out;
  }
  auto value = json::parse_object(said);
  BOOST_REQUIRE_MESSAGE(value, said);
  for (const auto& [name, answer] : *value)
    out[name] = answer.is_string() ? answer.as_string().c_str() : "?";
  return out;
}

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

void check(const answers& got, const char* name, const char* inside,
           std::string_view who) {
  const auto answer = got.find(name);
  BOOST_REQUIRE_MESSAGE(answer != got.end(),
                        who << " says nothing of " << name);
  const auto here = otherwise.find(name);
  const std::string expected = here == otherwise.end() ? inside : here->second;
  BOOST_TEST(is_one_of(answer->second, expected),
             who << " " << name << ": " << answer->second << " instead of "
                 << expected);
}

std::vector<language> languages() {
  std::vector<language> all{language::python, language::shell};
  if (std::filesystem::exists("/usr/bin/node"))
    all.push_back(language::javascript);
  return all;
}

} // namespace

BOOST_AUTO_TEST_CASE(tools_are_refused_every_path) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  const auto bait = host.host().state_dir() + "/bait";
  std::filesystem::create_directories(bait);
  std::ofstream{bait + "/marker"} << "secret of the host";
  std::vector<question> all;
  for (const auto& row : path_rows()) {
    if (row.name == waits_for_ever)
      continue;
    std::string target = row.target;
    for (const auto& [word, text] :
         {std::pair<std::string, std::string>{"/@host@", bait},
          {"@host@", bait},
          {"@engine@", std::to_string(::getpid())}})
      if (const auto at = target.find(word); at != target.npos)
        target.replace(at, word.size(), text);
    all.push_back({row.name, row.what, std::move(target)});
  }
  for (const auto lang : languages()) {
    living box{host};
    auto seen
      = host.run(*box, program_of(lang, calling(lang, ask_in(lang, all))));
    BOOST_TEST(seen.good());
    const auto got = parse(seen.out, lang);
    for (const auto& row : path_rows())
      if (row.name != waits_for_ever)
        check(got, row.name, row.inside, to_string(lang));
  }
}

BOOST_AUTO_TEST_CASE(tools_are_refused_every_call) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  const auto source = ask_calls(call_rows(), false);
  auto seen = host.run(
    *box, program_of(language::python, calling(language::python, source)));
  BOOST_REQUIRE_MESSAGE(seen.good() && seen.code() == 0, seen.err);
  const auto got = parse(seen.out, language::python);
  for (const auto& row : call_rows())
    check(got, row.name, row.inside, "python");
}

BOOST_AUTO_TEST_CASE(tools_that_fill_fork_flood_and_hang_end_with_their_time) {
  TROUPE_NEEDS("memory_limit");
  TROUPE_NEEDS("process_limit");
  local_host backend{without_interpreters()};
  sandbox_host host{backend};
  const auto before = processes_below(living_warden(backend));
  std::size_t tried = 0;
  for (const auto* table : {"limits", "appetite"})
    for (const auto& row : std::string_view{table} == "limits"
           ? behaviours()
           : appetite_behaviours())
      for (const auto lang : languages()) {
        const std::string body = lang == language::python ? row.python
          : lang == language::shell                       ? row.shell
                                                          : row.node;
        if (body.empty())
          continue;
        BOOST_TEST_CONTEXT(row.name << ", " << to_string(lang)) {
          auto wanted = sandbox_host::request();
          row.narrow(wanted.limits);
          wanted.limits.inodes
            = std::max<std::uint64_t>(wanted.limits.inodes, 256);
          const auto source = lang == language::python
            ? "def f():\n  " + body + "\n"
            : lang == language::shell ? body
                                      : "function f() { " + body + "\n}\n";
          const auto time
            = std::min<milliseconds>(wanted.limits.wall, milliseconds{1'500});
          living box{host, std::move(wanted)};
          const auto begun = std::chrono::steady_clock::now();
          host.run(*box, program_of(lang, calling(lang, source)), time);
          // P4: within the limit and two seconds; more on a busy machine.
          BOOST_TEST(
            (std::chrono::steady_clock::now() - begun < time + seconds{8}));
          // What it filled may be full still; a shell runs in it all the same.
          // The last that it has forked may need a moment to die.
          auto after = host.shell(*box, "echo on");
          const auto patience = std::chrono::steady_clock::now() + seconds{8};
          while (!after.good() && std::chrono::steady_clock::now() < patience)
            after = host.shell(*box, "echo on");
          BOOST_REQUIRE_MESSAGE(after.good(),
                                to_string(after.how->end.error()));
          BOOST_TEST(after.out == "on\n");
          ++tried;
        }
      }
  BOOST_TEST_MESSAGE(tried << " hostile deeds in sandboxes");
  BOOST_TEST((processes_below(backend.backend().warden_pid()) == before));
}

BOOST_AUTO_TEST_SUITE_END()
