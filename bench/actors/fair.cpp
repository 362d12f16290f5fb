#include "bench/actors/fair.hpp"

#include "actors/engine/engine_host.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace troupe::bench {

namespace {

constexpr std::size_t slots = 16;
constexpr std::size_t flood = 10'000;
constexpr std::chrono::milliseconds slot_time{5};
constexpr std::size_t unloaded_runs = 100;

/// Runs that take their time and nothing else.
class timed_backend final : public backend {
public:
  timed_backend() : thread_{[this] { io_.run(); }} {}
  ~timed_backend() override { stop(); }

  backend_kind kind() const override { return backend_kind::local; }
  void start(prepared_run_ptr run, run_observer_ptr observer) override {
    observer->started();
    auto timer = std::make_shared<boost::asio::steady_timer>(io_, slot_time);
    timer->async_wait([timer, run, observer](boost::system::error_code) {
      run_result r;
      r.id = run->id;
      r.status = run_status::success;
      r.reason = exit_reason::exited;
      observer->finished({std::move(r), true});
    });
  }
  void cancel(const run_id&, exit_reason) override {}
  result<void> ready() const override { return {}; }
  void stop() override {
    busy_.reset();
    if (thread_.joinable())
      thread_.join();
  }

private:
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type>
    busy_{io_.get_executor()};
  std::thread thread_;
};

caller of(const char* organization) {
  caller who;
  who.organization = organization_id{organization};
  who.user = default_user();
  return who;
}

void submit(engine& to, caller who, std::function<void()> done) {
  run_request request;
  request.kind = run_kind::source;
  request.function = "f";
  request.source = "def f():\n    return 1\n";
  auto finish = [done = std::move(done)](const auto&) { done(); };
  to.submit(std::move(who), std::move(request), std::move(finish), {});
}

/// One run of the quiet organization, in ms.
double one(engine& to) {
  std::promise<void> done;
  return 1e3 * seconds([&] {
           submit(to, of("org-quiet"), [&] { done.set_value(); });
           done.get_future().wait();
         });
}

} // namespace

void run_beside_a_flood(report& out) {
  engine_options options;
  options.backends.push_back(std::make_shared<timed_backend>());
  options.admission.running_per_backend[backend_kind::local] = slots;
  options.admission.waiting = 2 * flood;
  options.admission.waiting_per_organization = 2 * flood;
  auto opened = open_engine(std::move(options));
  if (!opened) {
    out.note("fair share: " + to_string(opened.error()));
    return;
  }
  auto& to = (*opened)->engine();
  std::vector<double> alone, beside;
  for (std::size_t i = 0; i < unloaded_runs; ++i)
    alone.push_back(one(to));
  std::atomic<std::size_t> left{flood};
  std::promise<void> over;
  for (std::size_t i = 0; i < flood; ++i)
    submit(to, of("org-flood"), [&] {
      if (--left == 0)
        over.set_value();
    });
  while (left > flood / 10)
    beside.push_back(one(to));
  over.get_future().wait();
  const auto allowed
    = 2 * median(alone) + static_cast<double>(slot_time.count());
  out.add("actors.fair.alone", median(alone), "ms");
  out.add("actors.fair.beside.p50", median(beside), "ms");
  out.add("actors.fair.beside.max", quantile(beside, 1), "ms");
  out.at_most("actors.fair.vs_allowed", quantile(beside, 0.99) / allowed, "x",
              1);
  out.note("actors.fair: single runs of one organization while another has "
           "10,000 waiting for 16 slots of 5 ms; p99 beside twice the time "
           "alone plus one slot");
  (*opened)->stop();
}

} // namespace troupe::bench
