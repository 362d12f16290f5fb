// What the way to a provider costs on our side: one call on a pooled TLS
// connection, and a thousand runs at the same time at a stand-in that takes
// its time for every answer.
#include "bench/bench.hpp"
#include "net/client/http_client.hpp"
#include "net/providers/e2b.hpp"
#include "net/providers/remote_backend.hpp"
#include "runtime/frame/keyed_frame.hpp"
#include "tests/support/scripted_server.hpp"

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <malloc.h>
#include <sys/resource.h>

#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <thread>

namespace troupe::bench {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using steady = std::chrono::steady_clock;

constexpr std::size_t calls = 5'000; // per round
constexpr std::size_t rounds = 5;
constexpr std::size_t runs = 1'000;
constexpr std::chrono::milliseconds latency{300}; // of every answer
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

/// A server on a thread of its own.
class house {
public:
  house() : acceptor_{io_, {asio::ip::address_v4::loopback(), 0}} {}
  ~house() {
    io_.stop();
    thread_.join();
  }
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

protected:
  void open() {
    thread_ = std::thread{[this] { io_.run(); }};
  }
  asio::io_context io_{1};
  tcp::acceptor acceptor_;

private:
  std::thread thread_;
};

/// Answers everything with the same few bytes, over TLS.
class tls_house : public house {
public:
  explicit tls_house(const test::certificate& own)
      : context_{asio::ssl::context::tls_server} {
    context_.use_certificate_chain(asio::buffer(own.pem));
    context_.use_private_key(asio::buffer(own.key_pem),
                             asio::ssl::context::pem);
    asio::co_spawn(io_, accept(), asio::detached);
    open();
  }

private:
  asio::awaitable<void> accept() {
    for (;;) {
      auto socket = co_await acceptor_.async_accept(asio::use_awaitable);
      asio::co_spawn(io_, serve(std::move(socket)), asio::detached);
    }
  }
  asio::awaitable<void> serve(tcp::socket socket) {
    try {
      asio::ssl::stream<tcp::socket> stream{std::move(socket), context_};
      co_await stream.async_handshake(asio::ssl::stream_base::server,
                                      asio::use_awaitable);
      beast::flat_buffer buffer;
      for (;;) {
        http::request<http::string_body> request;
        co_await http::async_read(stream, buffer, request, asio::use_awaitable);
        http::response<http::string_body> answer{http::status::ok, 11};
        answer.body() = R"({"sandboxID":"iabc"})";
        answer.prepare_payload();
        co_await http::async_write(stream, answer, asio::use_awaitable);
      }
    } catch (const std::exception&) {
    }
  }
  asio::ssl::context context_;
};

/// As much of E2B as a run needs, each answer after `latency`.
class slow_e2b : public house {
public:
  slow_e2b() {
    asio::co_spawn(io_, accept(), asio::detached);
    open();
  }
  std::atomic<int> created{0};
  std::atomic<int> ended{0};

private:
  asio::awaitable<void> accept() {
    for (;;) {
      auto socket = co_await acceptor_.async_accept(asio::use_awaitable);
      asio::co_spawn(io_, serve(std::move(socket)), asio::detached);
    }
  }
  asio::awaitable<void> serve(tcp::socket socket) {
    try {
      beast::flat_buffer buffer;
      asio::steady_timer timer{io_};
      for (;;) {
        http::request<http::string_body> request;
        co_await http::async_read(socket, buffer, request, asio::use_awaitable);
        auto came = steady::now();
        auto answer = answer_to(request);
        request = {};
        timer.expires_at(came + latency);
        co_await timer.async_wait(asio::use_awaitable);
        co_await http::async_write(socket, answer, asio::use_awaitable);
      }
    } catch (const std::exception&) {
    }
  }

  http::response<http::string_body>
  answer_to(const http::request<http::string_body>& request) {
    http::response<http::string_body> answer{http::status::ok, 11};
    if (request.method() == http::verb::delete_) {
      ++ended;
      answer.result(http::status::no_content);
    } else if (request.target() == "/execute") {
      answer.body() = cell(request.body());
    } else {
      answer.result(http::status::created);
      answer.body() = R"({"sandboxID":"i)" + std::to_string(++created)
        + R"(","envdAccessToken":"t"})";
    }
    answer.prepare_payload();
    return answer;
  }

  /// The script's last words hold the key of its answer: 32 hex digits between
  /// escaped quotes.
  static std::string cell(const std::string& body) {
    auto at = body.rfind(R"(_troupe_request, \")");
    auto key = body.substr(at + 19, 32);
    frame::message m;
    m.what = frame::kind::answer;
    m[frame::part::head] = R"({"status":"success"})";
    m[frame::part::body] = "42";
    auto line = frame::write_keyed_frame(m, key).value();
    std::string text;
    for (char c : line)
      text += c == '\n' ? std::string{"\\n"} : std::string{c};
    return R"({"type":"stdout","text":")" + text
      + "\"}\n{\"type\":\"end_of_execution\"}\n";
  }
};

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

void measure_calls(report& out) {
  auto own = test::make_certificate("localhost");
  auto file = std::string{"/tmp/troupe-bench-"} + std::to_string(::getpid());
  std::ofstream{file} << own.pem;
  tls_house server{own};
  net::client_options options;
  options.ca_file = file;
  std::vector<double> each;
  asio::io_context io{1};
  net::http_client client{io.get_executor(), options};
  for (std::size_t round = 0; round <= rounds; ++round) {
    auto before = thread_cpu_seconds();
    asio::co_spawn(io,
                   call_often(client, {true, "localhost", server.port(), ""}),
                   asio::detached);
    io.restart();
    io.run();
    if (round > 0) // the first one shakes hands
      each.push_back((thread_cpu_seconds() - before) * 1e6 / calls);
  }
  std::remove(file.c_str());
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
  slow_e2b server;
  auto url = "http://127.0.0.1:" + std::to_string(server.port());
  asio::io_context io{1};
  auto work = asio::make_work_guard(io);
  std::thread thread{[&] { io.run(); }};
  net::client_options client_bounds;
  client_bounds.max_idle_per_host = runs;
  auto client
    = std::make_shared<net::http_client>(io.get_executor(), client_bounds);
  net::e2b_options e2b;
  e2b.api_key = secret{"e2b_0123"};
  e2b.api_url = e2b.sandbox_url = url;
  net::remote_options bounds;
  bounds.max_running = runs;
  bounds.create_spacing = std::chrono::milliseconds{0};
  net::remote_backend backend{*net::make_e2b(client, e2b),
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
  }
  backend.stop();
  work.reset();
  io.stop();
  thread.join();
  out.note(std::to_string(good) + " of " + std::to_string(rounds * runs)
           + " answered 42; " + std::to_string(server.created) + " created, "
           + std::to_string(server.ended) + " ended");
  out.note("memory is the whole process's heap, the stand-in's part included");
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
