#include "bench/actors_local.hpp"

#include "actors/engine_host.hpp"
#include "bench/local_engine.hpp"
#include "bench/local_tools.hpp"

#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>

namespace troupe::bench {

namespace {

constexpr std::size_t at_a_time = 8;
constexpr std::size_t calls = 400;
constexpr std::size_t rounds = 7;
constexpr std::uint32_t armed = 8;

struct folder {
  folder() {
    char name[] = "/tmp/troupe-bench-XXXXXX";
    if (::mkdtemp(name) != nullptr)
      path = name;
  }
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path path;
};

/// So many runs over the engine, so many at a time: how long they took.
double run_over(engine& to, const local_tool& tool, report& out) {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t in_flight = 0, failures = 0;
  caller who;
  who.organization = default_organization();
  who.user = default_user();
  auto took = seconds([&] {
    std::unique_lock lock{mutex};
    for (std::size_t begun = 0; begun < calls || in_flight > 0;) {
      if (begun == calls || in_flight == at_a_time) {
        changed.wait(lock);
        continue;
      }
      ++in_flight;
      ++begun;
      lock.unlock();
      run_request request;
      request.kind = run_kind::source;
      request.source = tool.source;
      request.function = tool.function;
      request.args_json = tool.args;
      to.submit(who, std::move(request), [&](const auto& answer) {
        std::lock_guard guard{mutex};
        --in_flight;
        if (!answer || (*answer)->status != run_status::success)
          ++failures;
        changed.notify_one();
      });
      lock.lock();
    }
  });
  if (failures > 0)
    out.note(std::to_string(failures) + " runs of " + tool.name
             + " failed through the actors");
  return took;
}

} // namespace

void run_through_the_actors(report& out) {
  folder home;
  local_engine without{armed};
  engine_options options;
  options.backends.push_back(without.carrier());
  options.store.emplace();
  options.store->data_directory = home.path / "data";
  auto opened = open_engine(std::move(options));
  if (!opened) {
    out.note("end to end: " + to_string(opened.error()));
    return;
  }
  auto& through = (*opened)->engine();
  const auto& tool = local_tools().front(); // the lightest: the most overhead
  std::vector<double> bare, whole;
  for (std::size_t i = 0; i <= rounds; ++i) {
    const auto a
      = without.run(tool, isolation_level::standard, calls, at_a_time).seconds;
    const auto b = run_over(through, tool, out);
    if (i == 0)
      continue; // unmeasured: slots are being made
    bare.push_back(a);
    whole.push_back(b);
  }
  out.add("actors.local.without", calls / median(bare), "1/s");
  out.add("actors.local.through", calls / median(whole), "1/s");
  out.at_least("actors.local.ratio", median_ratio(bare, whole), "x", 0.95);
  out.note("actors.local: isolated Python runs, 8 in flight; through: gateway, "
           "dispatcher, executor, RocksDB; without: the local backend alone");
  (*opened)->stop();
}

} // namespace troupe::bench
