#include "tests/runtime/runner/plain_child.hpp"

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>

namespace troupe::testing {

namespace {

namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;

struct pipe_ends {
  int read = -1;
  int write = -1;
};

pipe_ends make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0)
    throw std::runtime_error("pipe2");
  return {fds[0], fds[1]};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> p;
  for (auto& t : texts)
    p.push_back(t.data());
  p.push_back(nullptr);
  return p;
}

struct plumbing {
  pipe_ends in = make_pipe(), out = make_pipe(), err = make_pipe();
  int ours = -1, theirs = -1;
  plumbing() {
    int fds[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
      throw std::runtime_error("socketpair");
    ours = fds[0];
    theirs = fds[1];
  }
};

[[noreturn]] void become(const plumbing& io, char** argv, char** envp) {
  ::setpgid(0, 0);
  // Away from the numbers that they are to have.
  int source[4] = {io.in.read, io.out.write, io.err.write, io.theirs};
  for (int& fd : source)
    fd = ::fcntl(fd, F_DUPFD, 64);
  for (int i = 0; i < 4; ++i)
    ::dup2(source[i], i);
  ::close_range(4, ~0u, 0);
  ::execve(argv[0], argv, envp);
  ::_exit(127);
}

/// Sends `input` and `request`, collects the three streams until they end.
void converse(const script::program& p, plumbing& io, child_report& report,
              clock::time_point deadline, pid_t child) {
  std::array<std::string_view, 2> to_send{p.input, p.request.reveal()};
  std::array<int, 2> sinks{io.in.write, io.ours};
  for (int fd : {io.in.write, io.ours, io.out.read, io.err.read})
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
  std::map<int, std::string*> sources{{io.out.read, &report.out},
                                      {io.err.read, &report.err},
                                      {io.ours, &report.answer}};
  while (!sources.empty()) {
    std::vector<pollfd> fds;
    for (auto& [fd, text] : sources)
      fds.push_back({fd, POLLIN, 0});
    for (std::size_t i = 0; i < sinks.size(); ++i)
      if (sinks[i] >= 0)
        fds.push_back({sinks[i], POLLOUT, 0});
    auto left
      = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now());
    if (left.count() <= 0 && report.reason == exit_reason::exited) {
      report.reason = exit_reason::wall_timeout;
      ::kill(-child, SIGKILL);
    }
    ::poll(fds.data(), fds.size(),
           std::max(10, static_cast<int>(left.count())));
    for (std::size_t i = 0; i < sinks.size(); ++i) {
      if (sinks[i] < 0)
        continue;
      auto n = to_send[i].empty()
        ? 0
        : ::send(sinks[i], to_send[i].data(), to_send[i].size(), MSG_NOSIGNAL);
      if (n < 0 && errno == ENOTSOCK)
        n = ::write(sinks[i], to_send[i].data(), to_send[i].size());
      if (n > 0)
        to_send[i].remove_prefix(static_cast<std::size_t>(n));
      if (to_send[i].empty() || (n < 0 && errno != EAGAIN)) {
        if (i == 0)
          ::close(sinks[i]);
        sinks[i] = -1;
      }
    }
    for (auto at = sources.begin(); at != sources.end();) {
      char buffer[65536];
      auto n = ::read(at->first, buffer, sizeof buffer);
      if (n > 0)
        at->second->append(buffer, static_cast<std::size_t>(n));
      at = n == 0 || (n < 0 && errno != EAGAIN) ? sources.erase(at)
                                                : std::next(at);
    }
  }
}

/// Of it, and of its pydantic.
std::string version_of(const std::string& python) {
  script::program p;
  p.argv = {python, "-I", "-c",
            "import sys, importlib.metadata as m\n"
            "try: beside = m.version('pydantic').split('.')[0]\n"
            "except m.PackageNotFoundError: beside = '-'\n"
            "print('%d.%02d' % sys.version_info[:2], beside)"};
  auto report = carry_out(p);
  return report.exit_code == 0 ? report.out.substr(0, report.out.find('\n'))
                               : "";
}

} // namespace

child_report carry_out(const script::program& p,
                       std::chrono::milliseconds patience) {
  plumbing io;
  auto argv = p.argv;
  std::vector<std::string> env;
  for (const auto& [name, value] : p.environment)
    env.push_back(name + "=" + value.reveal());
  auto argv_pointers = pointers(argv);
  auto env_pointers = pointers(env);
  pid_t child = ::fork();
  if (child == 0)
    become(io, argv_pointers.data(), env_pointers.data());
  for (int fd : {io.in.read, io.out.write, io.err.write, io.theirs})
    ::close(fd);
  child_report report;
  converse(p, io, report, clock::now() + patience, child);
  for (int fd : {io.ours, io.out.read, io.err.read})
    ::close(fd);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    report.signal = WTERMSIG(status);
    if (report.reason == exit_reason::exited)
      report.reason = exit_reason::signaled;
  } else {
    report.exit_code = WEXITSTATUS(status);
  }
  return report;
}

const std::string& runners_directory() {
  static const std::string directory = [] {
    auto where = std::string{TROUPE_BINARY_DIR} + "/test_runners";
    script::install_runners(where).value();
    for (const auto& python : pythons()) { // as the engine's host would
      script::program p;
      p.argv = {python, "-I", "-m", "compileall", "-q", where + "/python"};
      carry_out(p);
    }
    return where;
  }();
  return directory;
}

script::program_paths test_paths() {
  script::program_paths paths;
  paths.runners = runners_directory();
  paths.python = pythons().front();
  if (::access(paths.node.c_str(), X_OK) != 0)
    paths.node = "/usr/local/bin/node";
  return paths;
}

const std::vector<std::string>& pythons() {
  static const std::vector<std::string> found = [] {
    std::vector<std::string> candidates{script::program_paths{}.python};
    if (const char* chosen = std::getenv("TROUPE_TEST_PYTHON"))
      candidates.insert(candidates.begin(), chosen);
    std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
    for (std::size_t at = 0; at <= path.size();) {
      auto end = std::min(path.find(':', at), path.size());
      for (int minor = 9; minor <= 13; ++minor)
        candidates.push_back(path.substr(at, end - at) + "/python3."
                             + std::to_string(minor));
      at = end + 1;
    }
    auto home = std::string{std::getenv("HOME") ? std::getenv("HOME") : "/"};
    std::error_code ignored;
    for (auto& entry :
         fs::directory_iterator{home + "/.pyenv/versions", ignored})
      candidates.push_back(entry.path().string() + "/bin/python3");
    std::map<std::string, std::string> by_version;
    std::vector<std::string> all;
    for (const auto& python : candidates) {
      if (::access(python.c_str(), X_OK) != 0)
        continue;
      auto version = version_of(python);
      if (version >= "3.09" && version < "3.14"
          && by_version.emplace(version, python).second)
        all.push_back(python);
    }
    return all;
  }();
  return found;
}

run_result run_plainly(const prepared_run& run,
                       std::chrono::milliseconds patience) {
  auto program = script::build_program(run, test_paths());
  if (program.has_error())
    throw std::runtime_error(to_string(program.error()));
  auto report = carry_out(*program, patience);
  run_result seen;
  seen.reason = report.reason;
  seen.exit_code = report.exit_code;
  seen.signal = report.signal;
  seen.stdout_text = report.out;
  seen.stderr_text = report.err;
  script::interpret(run, report.answer, seen);
  return seen;
}

prepared_run a_run(language lang, std::string source, std::string args_json) {
  prepared_run run;
  run.lang = lang;
  run.name = run.function = "f";
  run.source = std::move(source);
  run.args_json = std::move(args_json);
  return run;
}

} // namespace troupe::testing

BOOST_AUTO_TEST_SUITE(plain_child)

BOOST_AUTO_TEST_CASE(tells_exit_codes_signals_and_timeouts_apart) {
  troupe::script::program p;
  p.argv = {"/bin/sh", "-c", "echo out; echo err >&2; exit 3"};
  auto report = troupe::testing::carry_out(p);
  BOOST_TEST(report.exit_code == 3);
  BOOST_TEST(report.out == "out\n");
  BOOST_TEST(report.err == "err\n");
  p.argv = {"/bin/sh", "-c", "kill -9 $$"};
  BOOST_TEST(troupe::testing::carry_out(p).signal == 9);
  p.argv = {"/bin/cat"};
  p.input = "hello";
  BOOST_TEST(troupe::testing::carry_out(p).out == "hello");
}

BOOST_AUTO_TEST_CASE(there_is_a_python_to_test_with) {
  BOOST_TEST(!troupe::testing::pythons().empty());
}

BOOST_AUTO_TEST_SUITE_END()
