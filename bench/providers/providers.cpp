// What the way to a provider costs on our side: one call on a pooled TLS
// connection, and a thousand runs at the same time at a stand-in that takes
// its time for every answer.
#include "bench/bench.hpp"
#include "bench/providers/fake_e2b_server.hpp"
#include "net/client/http_client.hpp"
#include "net/providers/e2b/provider.hpp"
#include "runtime/sandboxes/provider_backend.hpp"
#include "storage/adapters/memory_leases.hpp"
#include "tests/support/http/scripted_server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <malloc.h>
#include <sys/resource.h>

#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <thread>

namespace troupe::bench {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using steady = std::chrono::steady_clock;

constexpr std::size_t calls = 5'000; // per round
constexpr std::size_t rounds = 5;
constexpr std::size_t runs = 1'000;
constexpr std::chrono::milliseconds latency{300}; // of every answer
constexpr std::chrono::seconds patience{10};
constexpr double call_bound_us = 100;
constexpr double run_bound_bytes = 64.0 * 1024;

double thread_cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_THREAD, &used);
  auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double heap_bytes() {
  auto m = ::mallinfo2();
  return static_cast<double>(m.uordblks + m.hblkhd);
}

// -- one call -----------------------------------------------------------------

asio::awaitable<void> call_often(net::http_client& client, net::base_url to) {
  for (std::size_t i = 0; i < calls; ++i) {
    net::client_request r;
    r.service = to;
    r.method = http::verb::post;
    r.target = "/v2/sandboxes";
    r.headers.set("X-API-Key", "e2b_0123");
    r.headers.set(http::field::content_type, "application/json");
    r.body = std::string(300, 'x');
    r.deadline = steady::now() + std::chrono::seconds{30};
    auto done = co_await client.send(std::move(r));
    keep(done);
  }
}

/// A certificate of this machine's name, and whom a client trusts by it.
struct identity {
  test::certificate own = test::make_certificate("localhost");
  std::string file
    = std::string{"/tmp/troupe-bench-"} + std::to_string(::getpid());

  identity() { std::ofstream{file} << own.pem; }
  identity(const identity&) = delete;
  ~identity() { std::remove(file.c_str()); }

  /// As the product has them, but for whom to trust.
  net::client_options options() const {
    net::client_options o;
    o.ca_file = file;
    return o;
  }
};

void measure_calls(report& out) {
  identity who;
  tls_house server{who.own.pem, who.own.key_pem};
  std::vector<double> each;
  asio::io_context io{1};
  net::http_client client{io.get_executor(), who.options()};
  for (std::size_t round = 0; round <= rounds; ++round) {
    auto before = thread_cpu_seconds();
    asio::co_spawn(io,
                   call_often(client, {true, "localhost", server.port(), ""}),
                   [&io](std::exception_ptr) { // the client looks on for idle
                     io.stop();                // connections
                   });
    io.restart();
    io.run();
    if (round > 0) // the first one shakes hands
      each.push_back((thread_cpu_seconds() - before) * 1e6 / calls);
  }
  out.note("CPU of our thread only, system time included; "
           + std::to_string(client.counters().connections_opened)
           + " connection for " + std::to_string(client.counters().requests)
           + " calls");
  out.at_most("providers.call.cpu", median(each), "us", call_bound_us);
}

// -- many runs ----------------------------------------------------------------

/// Counts the runs that are still out.
struct tally {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t waiting = runs;
  std::size_t good = 0;

  void wait() {
    std::unique_lock lock{mutex};
    changed.wait(lock, [this] { return waiting == 0; });
  }
};

class counted final : public run_observer {
public:
  explicit counted(tally& all) : all_{all} {}
  void finished(run_outcome outcome) override {
    std::lock_guard guard{all_.mutex};
    all_.good += outcome.answer && outcome.answer->value_json == "42";
    if (--all_.waiting == 0)
      all_.changed.notify_all();
  }

private:
  tally& all_;
};

prepared_run_ptr one_run() {
  auto r = std::make_shared<prepared_run>();
  r->id = run_id::make();
  r->organization = default_organization();
  r->name = r->function = "add";
  r->source = "def add(a, b):\n  return a + b\n";
  r->args_json = R"({"a": 2, "b": 40})";
  return r;
}

void measure_runs(report& out) {
  identity who;
  // Before the first thread of ours.
  far_e2b server{latency, who.own.pem, who.own.key_pem};
  auto url = "https://localhost:" + std::to_string(server.port());
  asio::io_context io{1};
  auto work = asio::make_work_guard(io);
  std::thread thread{[&] { io.run(); }};
  auto client
    = std::make_shared<net::http_client>(io.get_executor(), who.options());
  net::e2b_options e2b;
  e2b.api_key = secret{"e2b_0123"};
  e2b.api_url = e2b.sandbox_url = url;
  provider_limits bounds;
  bounds.max_running = runs;
  bounds.create_spacing = std::chrono::milliseconds{0};
  provider_backend backend{*net::make_e2b(client, e2b),
                           std::make_shared<memory_lease_book>(),
                           io.get_executor(), bounds};
  std::vector<double> took;
  double bytes = 0;
  std::size_t good = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    tally all;
    auto heap = heap_bytes();
    auto began = steady::now();
    for (std::size_t i = 0; i < runs; ++i)
      backend.start(one_run(), std::make_shared<counted>(all));
    // While the code runs there: between the creation and its answer.
    std::this_thread::sleep_until(began + latency + latency / 2);
    bytes = std::max(bytes, (heap_bytes() - heap) / runs);
    all.wait();
    took.push_back(
      std::chrono::duration<double>(steady::now() - began).count());
    good += all.good;
    if (!backend.rest(patience)) // the next round begins with free places
      out.note("sandboxes were still being ended after a round");
  }
  backend.stop();
  work.reset();
  io.stop();
  thread.join();
  out.note(std::to_string(good) + " of " + std::to_string(rounds * runs)
           + " answered 42; " + std::to_string(server.created()) + " created, "
           + std::to_string(server.ended()) + " ended");
  out.note("over TLS with the client as it is by default; "
           + std::to_string(client->counters().connections_opened)
           + " connections were opened");
  out.note("two answers in a row, " + std::to_string(latency.count())
           + " ms each: the deletion follows the run's answer");
  out.note("memory is the heap of our process; the stand-in has its own");
  out.at_most("providers.thousand_runs.first_round", took.front(), "s", 2.0);
  out.at_most("providers.thousand_runs", median(took), "s", 1.0);
  out.at_most("providers.memory_per_run", bytes, "B", run_bound_bytes);
}

void run_all(report& out) {
  measure_calls(out);
  measure_runs(out);
}

area registered{"providers", "calls and runs at providers, our side", run_all};

} // namespace

} // namespace troupe::bench
