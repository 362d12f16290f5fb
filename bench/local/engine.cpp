#include "bench/local/engine.hpp"

#include "bench/bench.hpp"
#include "runtime/local/isolation/cgroup_files.hpp"

#include <stdlib.h>
#include <time.h>

#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <stdexcept>

namespace troupe::bench {

namespace {

using std::chrono::steady_clock;

/// Counts what ends; the latency of each.
struct tally {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<double> latencies;
  std::size_t in_flight = 0;
  std::size_t failures = 0;
};

class witness final : public run_observer {
public:
  witness(std::shared_ptr<tally> all) : all_{std::move(all)} {}
  void finished(run_outcome outcome) override {
    const std::chrono::duration<double> took = steady_clock::now() - begun_;
    std::lock_guard lock{all_->mutex};
    all_->latencies.push_back(took.count());
    --all_->in_flight;
    if (!outcome.answer || outcome.answer->status != run_status::success)
      ++all_->failures;
    all_->changed.notify_one();
  }

private:
  std::shared_ptr<tally> all_;
  steady_clock::time_point begun_ = steady_clock::now();
};

std::shared_ptr<const prepared_run> prepare(const local_tool& tool,
                                            isolation_level level) {
  auto run = std::make_shared<prepared_run>();
  run->id = run_id::make();
  run->organization = default_organization();
  run->kind = run_kind::source;
  run->name = run->function = tool.function;
  run->lang = tool.lang;
  run->source = tool.source;
  run->args_json = tool.args;
  run->isolation = level;
  // As every run of an engine has them.
  for (const char* name : {"LETTA_TOOL_ID", "TROUPE_TOOL_ID"})
    run->env.emplace(name, secret{"tool" + run->id.str().substr(3)});
  run->limits.wall = std::chrono::seconds{60};
  return run;
}

/// The file of a controller in the groups of one instance, "" if not found.
std::string group_file(const std::string& instance, const char* file) {
  std::error_code code;
  namespace fs = std::filesystem;
  for (auto i = fs::recursive_directory_iterator(
         "/sys/fs/cgroup", fs::directory_options::skip_permission_denied, code);
       !code && i != fs::recursive_directory_iterator(); i.increment(code))
    if (i->path().filename() == "troupe-" + instance
        && fs::exists(i->path() / file))
      return i->path() / file;
  return {};
}

} // namespace

local_engine::local_engine(std::uint32_t preforked, std::string python,
                           const std::vector<std::string>& preload,
                           node_start node, const warm_optimizations& on,
                           const std::string& learned_in) {
  char name[] = "/tmp/troupe-bench-XXXXXX";
  if (learned_in.empty() && ::mkdtemp(name) == nullptr)
    throw std::runtime_error{"no directory for the benchmark"};
  state_dir_ = learned_in.empty() ? name : "";
  local_options options;
  options.state_dir = learned_in.empty() ? state_dir_ : learned_in;
  static_cast<warm_optimizations&>(options.zygote) = on;
  options.max_running = 1'100;
  options.python = std::move(python);
  options.zygote.preforked = preforked;
  options.zygote.node = node == node_start::fork;
  if (node == node_start::cold)
    options.ready_node = 0;
  options.zygote.learn_after = 0; // not while something is measured
  options.zygote.preload.insert(options.zygote.preload.end(), preload.begin(),
                                preload.end());
  options.zygote.max_slots = 1'100;
  auto opened = local_backend::open(io_.executor(), std::move(options));
  if (!opened)
    throw std::runtime_error{to_string(opened.error())};
  backend_ = *opened;
  // Starting is not what is measured.
  if (!warm_up(local_tools().front()))
    throw std::runtime_error{"no warm interpreter: "
                             + backend_->slots().trouble};
  if (on.hot_blocks && on.huge_heap)
    wait_until_learned();
  const auto instance
    = std::filesystem::path{backend_->instance_directory()}.filename().string();
  cpu_file_ = group_file(instance, "cpu.stat");
  memory_file_ = group_file(instance, "memory.usage_in_bytes");
  if (memory_file_.empty())
    memory_file_ = group_file(instance, "memory.current");
}

bool local_engine::warm_up(const local_tool& tool) {
  const auto of = tool.lang == language::python ? zygote::family::python
                                                : zygote::family::node;
  const auto end = steady_clock::now() + std::chrono::seconds{30};
  run(tool, isolation_level::standard, 1, 1); // the first of its kind
  while (backend_->slots(of).zygotes == 0) {
    if (steady_clock::now() > end)
      return false;
    const timespec pause{0, 10'000'000};
    ::nanosleep(&pause, nullptr);
  }
  return true;
}

/// What a host has known since its engine's first minutes. Where the processor
/// cannot tell, it is never known.
void local_engine::wait_until_learned() const {
  const auto end = steady_clock::now() + std::chrono::seconds{40};
  while (backend_->slots().hot_blocks == 0 && steady_clock::now() < end) {
    const timespec pause{0, 10'000'000};
    ::nanosleep(&pause, nullptr);
  }
}

local_engine::~local_engine() {
  backend_->stop();
  backend_.reset();
  std::error_code ignored;
  if (!state_dir_.empty())
    std::filesystem::remove_all(state_dir_, ignored);
}

/// The slots and the runs by their group, and all of this process.
double local_engine::cpu() const {
  const auto microseconds = isolation::read_keyed(cpu_file_, "usage_usec");
  return cpu_seconds() + static_cast<double>(microseconds) / 1e6;
}

std::uint64_t local_engine::memory() const {
  return isolation::read_number(memory_file_).value_or(0);
}

batch local_engine::run(const local_tool& tool, isolation_level level,
                        std::size_t calls, std::size_t at_a_time) {
  auto all = std::make_shared<tally>();
  batch done;
  const auto before = cpu();
  done.seconds = seconds([&] {
    std::unique_lock lock{all->mutex};
    for (std::size_t begun = 0; begun < calls || all->in_flight > 0;) {
      if (begun < calls && all->in_flight < at_a_time) {
        ++all->in_flight;
        ++begun;
        lock.unlock();
        backend_->start(prepare(tool, level), std::make_shared<witness>(all));
        lock.lock();
      } else {
        all->changed.wait(lock);
      }
    }
  });
  done.cpu = cpu() - before;
  done.latencies = std::move(all->latencies);
  done.failures = all->failures;
  return done;
}

batch local_engine::run_spaced(const local_tool& tool, std::size_t calls,
                               std::chrono::milliseconds gap) {
  batch done;
  const auto before = cpu();
  const auto begun = steady_clock::now();
  for (std::size_t i = 0; i < calls; ++i) {
    const timespec pause{0, gap.count() * 1'000'000};
    ::nanosleep(&pause, nullptr);
    const auto one = run(tool, isolation_level::standard, 1, 1);
    done.latencies.push_back(one.latencies.front());
    done.failures += one.failures;
  }
  done.cpu = cpu() - before;
  done.seconds
    = std::chrono::duration<double>(steady_clock::now() - begun).count();
  return done;
}

double proportional_memory(std::int32_t pid) {
  std::ifstream in{"/proc/" + std::to_string(pid) + "/smaps_rollup"};
  for (std::string word; in >> word;)
    if (double kb = 0; word == "Pss:" && in >> kb)
      return kb / 1000;
  return std::nan("");
}

} // namespace troupe::bench
