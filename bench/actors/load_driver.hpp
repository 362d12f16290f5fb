#pragma once

#include "actors/caf/actor_system.hpp"
#include "actors/engine/engine_host.hpp"
#include "bench/bench.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <vector>

/// What the engine's benchmarks have in common: a backend that answers at
/// once, and so many calls under way.
namespace troupe::bench {

class instant_backend final : public backend {
public:
  backend_kind kind() const override { return backend_kind::local; }
  void start(prepared_run_ptr run, run_observer_ptr observer) override {
    observer->started();
    observer->finished({carry_out(*run), true});
  }
  void cancel(const run_id&, exit_reason) override {}
  result<void> ready() const override { return {}; }
  void stop() override {}

  static run_result carry_out(const prepared_run& run) {
    run_result r;
    r.id = run.id;
    r.status = run_status::success;
    r.reason = exit_reason::exited;
    r.value_json = run.args_json;
    return r;
  }
};

inline run_request example() {
  run_request r;
  r.kind = run_kind::source;
  r.function = "f";
  r.source = "def f(x: int) -> int:\n    return x\n";
  r.args_json = R"({"x": 42, "text": "two hundred bytes of something"})";
  return r;
}

inline caller somebody() {
  caller who;
  who.organization = default_organization();
  who.user = default_user();
  return who;
}

/// Keeps `pending` calls under way until `count` have been answered.
class pump {
public:
  using start = std::function<void(std::function<void()> done)>;

  pump(std::size_t pending, std::size_t count, start begin)
      : begin_{std::move(begin)}, count_{count} {
    latencies_.resize(count);
    const auto first = std::min(pending, count);
    left_ = count - first;
    for (std::size_t i = 0; i < first; ++i)
      one();
    all_.get_future().wait();
  }
  double p(double q) { return quantile(latencies_, q); }

private:
  void one() {
    const auto began = clock::now();
    begin_([this, began] {
      auto n = done_.fetch_add(1);
      latencies_[n]
        = std::chrono::duration<double, std::micro>(clock::now() - began)
            .count();
      if (left_.fetch_sub(1) > 0)
        one();
      if (n + 1 == count_)
        all_.set_value();
    });
  }

  start begin_;
  const std::size_t count_;
  std::atomic<std::int64_t> left_{0};
  std::atomic<std::size_t> done_{0};
  std::vector<double> latencies_;
  std::promise<void> all_;
};

struct cost {
  double wall_us = 0; // per call
  double cpu_us = 0;
  double p50_us = 0;
  double p99_us = 0;
};

inline cost measure(std::size_t pending, std::size_t count,
                    const pump::start& begin) {
  const auto cpu = cpu_seconds();
  const auto began = clock::now();
  pump p{pending, count, begin};
  cost c;
  const auto n = static_cast<double>(count);
  c.wall_us
    = std::chrono::duration<double, std::micro>(clock::now() - began).count()
    / n;
  c.cpu_us = (cpu_seconds() - cpu) * 1e6 / n;
  c.p50_us = p.p(0.5);
  c.p99_us = p.p(0.99);
  return c;
}

/// Bounds out of the way: what is measured is the engine's own work.
struct whole_engine {
  std::unique_ptr<engine_host> host;
  run_request request = example();

  explicit whole_engine(engine_options options) {
    options.threads = default_thread_count();
    options.backends.push_back(std::make_shared<instant_backend>());
    options.pending = 1'000'000;
    options.admission.running = 1'000'000;
    options.admission.running_per_organization = 1'000'000;
    options.admission.running_per_other_backend = 1'000'000;
    options.ledger.waiting_entries = 1'000'000;
    host = std::move(*open_engine(std::move(options)));
  }
  cost run(std::size_t pending, std::size_t count) {
    return measure(pending, count, [this](std::function<void()> done) {
      auto finish = [done = std::move(done)](auto) { done(); };
      host->engine().submit(somebody(), request, std::move(finish));
    });
  }
};

inline void line(report& out, const std::string& name, const cost& c) {
  out.add("actors." + name + ".cpu", c.cpu_us, "us");
  out.add("actors." + name + ".wall", c.wall_us, "us");
  if (c.p50_us > 0) {
    out.add("actors." + name + ".p50", c.p50_us, "us");
    out.add("actors." + name + ".p99", c.p99_us, "us");
  }
}

} // namespace troupe::bench
