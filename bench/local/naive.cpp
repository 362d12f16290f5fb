#include "bench/local/naive.hpp"

#include "bench/bench.hpp"
#include "runtime/local/isolation/namespaces.hpp"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace troupe::bench {

namespace {

double cpu_of(const rusage& use) {
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return of(use.ru_utime) + of(use.ru_stime);
}

std::string script_for(const local_tool& tool) {
  if (tool.lang == language::javascript)
    return tool.source + "\nconst args = JSON.parse(String.raw`" + tool.args
      + "`);\n" + tool.function + "(...Object.values(args)).then((result) =>"
      + " console.log('<<<mark>>>' + JSON.stringify(result) +"
      + " '<<<mark>>>'));\n";
  return "import json, sys\nimport pydantic\n" + tool.source
    + "\nresult = " + tool.function + "(**json.loads(r'''" + tool.args
    + "'''))\nprint('<<<mark>>>' + json.dumps(result) + '<<<mark>>>')\n";
}

/// Executes a program, reads its output to the end; its CPU, or -1.
double spawn_and_wait(const std::vector<std::string>& arguments,
                      std::string& output) {
  std::vector<char*> argv;
  for (const auto& a : arguments)
    argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return -1;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  pid_t pid = -1;
  const int bad
    = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::array<char, 4096> buffer{};
  for (ssize_t got; (got = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    output.append(buffer.data(), static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  rusage use{};
  if (bad != 0 || ::wait4(pid, &status, 0, &use) != pid || status != 0)
    return -1;
  return cpu_of(use);
}

double call_naive(const std::string& interpreter, const local_tool& tool) {
  char path[] = "/tmp/troupe-naive-XXXXXX.py";
  const int file = ::mkstemps(path, 3);
  const auto text = script_for(tool);
  const auto put = ::write(file, text.data(), text.size());
  ::close(file);
  std::string output;
  const auto cpu = spawn_and_wait({interpreter, path}, output);
  ::unlink(path);
  const bool good = put == static_cast<ssize_t>(text.size())
    && output.find("<<<mark>>>{") != std::string::npos;
  return good ? cpu : -1;
}

} // namespace

batch run_naive(const std::string& interpreter, const local_tool& tool,
                std::size_t calls, std::size_t at_a_time) {
  batch all;
  all.latencies.resize(calls);
  std::vector<double> cpu(calls, -1);
  std::atomic<std::size_t> next{0};
  const auto own = cpu_seconds();
  all.seconds = seconds([&] {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < std::min(at_a_time, calls); ++i)
      threads.emplace_back([&] {
        for (std::size_t n; (n = next++) < calls;)
          all.latencies[n]
            = seconds([&] { cpu[n] = call_naive(interpreter, tool); });
      });
    for (auto& t : threads)
      t.join();
  });
  all.cpu = cpu_seconds() - own;
  for (double c : cpu) {
    all.failures += c < 0 ? 1u : 0u;
    all.cpu += c < 0 ? 0 : c;
  }
  return all;
}

batch run_empty_interpreter(const std::string& python, std::size_t calls) {
  batch all;
  all.seconds = seconds([&] {
    for (std::size_t i = 0; i < calls; ++i)
      all.latencies.push_back(seconds([&] {
        std::string nothing;
        const auto cpu
          = spawn_and_wait({python, "-I", "-S", "-c", "pass"}, nothing);
        all.failures += cpu < 0 ? 1u : 0u;
        all.cpu += cpu < 0 ? 0 : cpu;
      }));
  });
  return all;
}

namespace {

pid_t fork_once(bool namespaces) {
  if (!namespaces)
    return ::fork();
  constexpr std::uint64_t fresh = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID
    | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
  const auto child = isolation::clone_into(fresh, -1);
  if (child.pid > 0)
    ::close(child.pidfd);
  return child.pid;
}

batch run_forks(std::size_t calls, const std::vector<std::string>& more) {
  batch all;
  all.latencies.resize(calls);
  const std::string helper = "/proc/self/exe";
  std::string output;
  std::vector<std::string> argv{helper, forks_command, std::to_string(calls)};
  argv.insert(argv.end(), more.begin(), more.end());
  spawn_and_wait(argv, output);
  if (std::sscanf(output.c_str(), "%lf %lf", &all.seconds, &all.cpu) != 2)
    all.failures = calls;
  return all;
}

} // namespace

batch run_bare_forks(std::size_t calls) {
  return run_forks(calls, {});
}

batch run_bare_namespaces(std::size_t calls) {
  return run_forks(calls, {"namespaces"});
}

int bare_forks(std::size_t calls, bool namespaces) {
  const auto own = [] {
    rusage children{};
    ::getrusage(RUSAGE_CHILDREN, &children);
    return cpu_seconds() + cpu_of(children);
  };
  bool failed = false;
  const auto before = own();
  const auto took = seconds([&] {
    for (std::size_t i = 0; i < calls && !failed; ++i) {
      const auto pid = fork_once(namespaces);
      if (pid == 0)
        ::_exit(0);
      failed = pid < 0;
      if (!failed)
        ::waitpid(pid, nullptr, 0);
    }
  });
  if (failed)
    return 1;
  std::printf("%.9f %.9f\n", took, own() - before);
  return 0;
}

} // namespace troupe::bench
