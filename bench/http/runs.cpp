// Python runs over HTTP: the whole engine beside the local backend alone, and
// beside a Python server that does what Letta does.
#include "actors/state/run_registry.hpp"
#include "app/daemon/engine_process.hpp"
#include "bench/http/load.hpp"
#include "bench/http/parts.hpp"
#include "bench/local/engine.hpp"
#include "runtime/local/interpreters.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

namespace troupe::bench {

namespace {

// What a fork costs changes with the host by a tenth and more, for a minute at
// a time: several engines after each other see several of its moods.
constexpr std::size_t lives = 3;
constexpr std::size_t rounds = 6; // of each
constexpr std::size_t calls = 250;
constexpr std::size_t naive_calls = 16;

// HTTP by hand, for there is nothing in the standard library that is both
// asynchronous and a server: the naive side gets the cheapest that works.
constexpr const char* naive_server = R"py(
import asyncio, json, os, sys, tempfile

TEMPLATE = """import json, sys
import pydantic
{source}
result = {function}(**json.loads(sys.stdin.read()))
print('<<<mark>>>' + json.dumps(result) + '<<<mark>>>')
"""

async def execute(body):
    text = TEMPLATE.format(source=body["source"], function=body["function"])
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write(text)
    try:
        child = await asyncio.create_subprocess_exec(
            sys.executable, file.name, stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE)
        out, _ = await child.communicate(json.dumps(body["args"]).encode())
    finally:
        os.unlink(file.name)
    return json.loads(out.decode().split("<<<mark>>>")[1])

async def serve(reader, writer):
    while head := await reader.readuntil(b"\r\n\r\n"):
        fields = head.decode().lower().split("content-length:")
        body = json.loads(await reader.readexactly(int(fields[1].split()[0])))
        answer = json.dumps({"value": await execute(body)}).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s"
                     % (len(answer), answer))
        await writer.drain()

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
)py";

/// A directory that goes with the measurement.
struct scratch {
  std::filesystem::path path;
  scratch() {
    char name[] = "/tmp/troupe-bench-XXXXXX";
    if (::mkdtemp(name) == nullptr)
      throw std::runtime_error{"no directory for the benchmark"};
    path = name;
  }
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

/// The naive server as a process of its own.
class naive_process {
public:
  naive_process(const std::string& python, const scratch& home) {
    auto file = (home.path / "naive.py").string();
    std::ofstream{file} << naive_server;
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      throw std::runtime_error{"no pipe"};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    std::string program{python};
    char* argv[] = {program.data(), file.data(), nullptr};
    auto bad
      = ::posix_spawn(&pid_, python.c_str(), &actions, nullptr, argv, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    // Kept open: closed early, it would kill a server that still writes.
    out_ = ends[0];
    std::string line;
    for (char c; bad == 0 && ::read(out_, &c, 1) == 1 && c != '\n';)
      line += c;
    if (line.empty())
      throw std::runtime_error{"the naive server does not start"};
    port_ = static_cast<std::uint16_t>(std::stoi(line));
  }
  ~naive_process() {
    ::close(out_);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::uint16_t port() const { return port_; }

private:
  int out_ = -1;
  pid_t pid_ = -1;
  std::uint16_t port_ = 0;
};

configuration served_from(const scratch& home) {
  configuration c;
  c.values.http.listen = "127.0.0.1:0";
  c.values.engine.data_dir = (home.path / "data").string();
  c.values.local.runtime_dir = (home.path / "state").string();
  return c;
}

std::uint16_t port_of(const engine_process& h) {
  auto address = h.addresses().at(0);
  return static_cast<std::uint16_t>(
    std::stoi(address.substr(address.rfind(':') + 1)));
}

std::string request_for(const local_tool& tool) {
  json::object body{{"source", tool.source},
                    {"function", tool.function},
                    {"args", json::parse(tool.args).value()}};
  return http_post("/v1/runs", json::to_text(body));
}

/// What a host has known since its engine's first minutes; the engine that it
/// is set beside has it, too. And an engine that keeps as many ended runs as it
/// ever will no longer asks the kernel for memory.
void let_learn(const scratch& home, http_load& load) {
  const auto learned = [&home] {
    for (const auto& entry :
         std::filesystem::directory_iterator{home.path / "state"})
      if (entry.path().filename().string().starts_with("hot-blocks-"))
        return true;
    return false;
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{40};
  while (!learned() && std::chrono::steady_clock::now() < end) {
    load.run(calls);
    const timespec pause{0, 500'000'000}; // it learns when nobody waits
    ::nanosleep(&pause, nullptr);
  }
  load.run(registry_bounds{}.ended_runs);
}

struct record {
  std::vector<double> rate, p50, p99;
  std::size_t failures = 0;
};

void print(report& out, const std::string& name, const record& r) {
  out.add("http.python." + name + ".rate", median(r.rate), "1/s");
  out.add("http.python." + name + ".p50", median(r.p50) * 1e6, "us");
  out.add("http.python." + name + ".p99", median(r.p99) * 1e6, "us");
  if (r.failures > 0)
    out.at_most("http.python." + name + ".failures",
                static_cast<double>(r.failures), "", 0);
}

using records = std::map<std::string, record>;
using side = std::pair<std::string, std::function<batch()>>;

void measure_in_turns(const std::vector<side>& sides, records& all) {
  for (std::size_t round = 0; round <= rounds; ++round)
    for (std::size_t k = 0; k < sides.size(); ++k) {
      const auto& [name, work] = sides[(round + k) % sides.size()];
      const auto done = work();
      if (round == 0) // warms caches on all sides
        continue;
      auto& r = all[name];
      r.rate.push_back(done.rate());
      r.p50.push_back(quantile(done.latencies, 0.5));
      r.p99.push_back(quantile(done.latencies, 0.99));
      r.failures += done.failures;
    }
}

void measure_one_life(const std::string& python, const local_tool& tool,
                      records& all) {
  scratch home;
  auto served = engine_process::open(served_from(home));
  if (!served)
    throw std::runtime_error{to_string(served.error())};
  naive_process naive{python, home};
  local_engine alone{0};
  const auto request = request_for(tool);
  std::vector<side> sides;
  std::vector<std::unique_ptr<http_load>> loads;
  auto add_load = [&](std::string name, std::uint16_t port,
                      std::size_t at_a_time, std::size_t how_many) {
    auto* l
      = loads
          .emplace_back(std::make_unique<http_load>(port, request, at_a_time))
          .get();
    sides.emplace_back(std::move(name),
                       [l, how_many] { return l->run(how_many); });
  };
  for (auto at_a_time : {std::size_t{4}, std::size_t{64}}) {
    auto name = "c" + std::to_string(at_a_time);
    add_load("served." + name, port_of(**served), at_a_time, calls);
    sides.emplace_back("local." + name, [&alone, &tool, at_a_time] {
      return alone.run(tool, isolation_level::standard, calls, at_a_time);
    });
  }
  add_load("naive.c8", naive.port(), 8, naive_calls);
  let_learn(home, *loads.front());
  measure_in_turns(sides, all);
  loads.clear();
  (*served)->stop();
}

} // namespace

void measure_served_runs(report& out) {
  const auto python = find_interpreters({}).python.path;
  records all;
  for (std::size_t life = 0; life < lives; ++life)
    measure_one_life(python, local_tools().front(), all);
  out.note("python: the tool 'light' in standard isolation, c4 and c64 at "
           "once; naive: an asyncio server that starts "
           + python + " per call, c8, where it is at its best");
  for (const auto& [name, r] : all)
    print(out, name, r);
  for (auto c : {"c4", "c64"})
    out.at_least(std::string{"http.python."} + c + ".vs_local",
                 median_ratio(all[std::string{"served."} + c].rate,
                              all[std::string{"local."} + c].rate),
                 "x", 0.9);
  out.add("http.python.c4.vs_naive",
          median_ratio(all["served.c4"].rate, all["naive.c8"].rate), "x");
}

} // namespace troupe::bench
