#include "bench/actors/local.hpp"

#include "actors/engine/engine_host.hpp"
#include "bench/local/engine.hpp"
#include "bench/local/tools.hpp"
#include "tests/support/engine/kept_engine.hpp"

#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>

namespace troupe::bench {

namespace {

constexpr std::size_t at_a_time = 8;
constexpr std::size_t calls = 400;
// What a fork costs changes with the host by a tenth and more, for a minute at
// a time: several engines after each other see several of its moods.
constexpr std::size_t lives = 4;
constexpr std::size_t rounds = 4; // of each; even: see below
constexpr std::uint32_t preforked = 8;

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

/// Sees what the engine makes of a request.
class tap final : public backend {
public:
  explicit tap(std::shared_ptr<backend> to) : to_{std::move(to)} {}

  backend_kind kind() const override { return to_->kind(); }
  void start(prepared_run_ptr run, run_observer_ptr observer) override {
    {
      std::lock_guard guard{mutex_};
      last_ = run;
    }
    to_->start(std::move(run), std::move(observer));
  }
  void cancel(const run_id& id, exit_reason why) override {
    to_->cancel(id, why);
  }
  result<void> ready() const override { return to_->ready(); }
  void stop() override { to_->stop(); }

  prepared_run_ptr last() {
    std::lock_guard guard{mutex_};
    return last_;
  }

private:
  const std::shared_ptr<backend> to_;
  std::mutex mutex_;
  prepared_run_ptr last_;
};

/// Keeps so many under way until all are done.
class lane {
public:
  /// `begin` starts one and sees to it that `end` is called when it is over.
  double drive(const work& begin) {
    return seconds([&] {
      std::unique_lock lock{mutex_};
      for (std::size_t begun = 0; begun < calls || in_flight_ > 0;) {
        if (begun == calls || in_flight_ == at_a_time) {
          changed_.wait(lock);
          continue;
        }
        ++in_flight_;
        ++begun;
        lock.unlock();
        begin();
        lock.lock();
      }
    });
  }
  void end(bool well) {
    std::lock_guard guard{mutex_};
    --in_flight_;
    failures += well ? 0 : 1;
    changed_.notify_one();
  }
  std::size_t failures = 0;

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t in_flight_ = 0;
};

class lane_observer final : public run_observer {
public:
  explicit lane_observer(lane& of) : of_{of} {}
  void finished(run_outcome outcome) override {
    of_.end(outcome.answer && outcome.answer->status == run_status::success);
  }

private:
  lane& of_;
};

double run_over(engine& to, const local_tool& tool, lane& l) {
  caller who;
  who.organization = default_organization();
  who.user = default_user();
  return l.drive([&] {
    run_request request;
    request.kind = run_kind::source;
    request.source = tool.source;
    request.function = tool.function;
    request.args_json = tool.args;
    auto finish = [&](const auto& answer) {
      l.end(answer && (*answer)->status == run_status::success);
    };
    to.submit(who, std::move(request), std::move(finish), {});
  });
}

/// The same without the engine: the same environment, config and limits.
double run_at(backend& to, const prepared_run& like, lane& l) {
  return l.drive([&] {
    auto run = std::make_shared<prepared_run>(like);
    run->id = run_id::make();
    to.start(std::move(run), std::make_shared<lane_observer>(l));
  });
}

struct times {
  std::vector<double> bare, whole;
  std::size_t failures = 0;
};

result<void> run_one_life(times& all) {
  folder home;
  // Two of them: the engine's first thread serves the sockets of its own.
  local_engine without{preforked}, within{preforked};
  engine_options options;
  auto seen = std::make_shared<tap>(within.carrier());
  options.backends.push_back(seen);
  options.sockets = &within.sockets();
  if (auto kept = test::keep_in(home.path / "data", options); !kept)
    return kept.error();
  auto opened = open_engine(std::move(options));
  if (!opened)
    return opened.error();
  auto& through = (*opened)->engine();
  const auto& tool = local_tools().front(); // the lightest: the most overhead
  lane l;
  run_over(through, tool, l); // unmeasured: slots are being made
  const auto like = *seen->last();
  for (std::size_t i = 0; i < rounds; ++i) {
    const bool first = i % 2 == 0; // whoever goes first finds the slots ready
    if (first)
      all.bare.push_back(run_at(*without.carrier(), like, l));
    all.whole.push_back(run_over(through, tool, l));
    if (!first)
      all.bare.push_back(run_at(*without.carrier(), like, l));
  }
  all.failures += l.failures;
  (*opened)->stop();
  return {};
}

} // namespace

void run_through_the_actors(report& out) {
  times all;
  for (std::size_t life = 0; life < lives; ++life)
    if (auto lived = run_one_life(all); !lived) {
      out.note("end to end: " + to_string(lived.error()));
      return;
    }
  if (all.failures > 0)
    out.note(std::to_string(all.failures)
             + " runs failed through the actors or without them");
  out.add("actors.local.without", calls / median(all.bare), "1/s");
  out.add("actors.local.through", calls / median(all.whole), "1/s");
  out.at_least("actors.local.ratio", median_ratio(all.bare, all.whole), "x",
               0.95);
  out.note("actors.local: isolated Python runs, 8 in flight; through: gateway, "
           "dispatcher, executor, RocksDB; without: the local backend alone, "
           "with the very runs that the engine makes of the requests");
}

} // namespace troupe::bench
