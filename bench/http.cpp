// The listener beside a bare Beast server that echoes, over the same sockets,
// by the same load, in turns: what admission, routing, identity and rendering
// cost on top of HTTP itself.
#include "bench/bench.hpp"
#include "net/api/api.hpp"
#include "net/server/server.hpp"
#include "tests/support/fake_engine.hpp"

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <sys/epoll.h>
#include <sys/resource.h>

#include <thread>

namespace troupe::bench {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

constexpr std::size_t clients = 32;
constexpr std::size_t requests = 20'000; // per round and side
constexpr std::size_t rounds = 7;

// -- the bare server ---------------------------------------------------------

class echo_session : public std::enable_shared_from_this<echo_session> {
public:
  explicit echo_session(tcp::socket socket) : socket_{std::move(socket)} {}

  void read() {
    in_ = {};
    http::async_read(
      socket_, buffer_, in_,
      [self = shared_from_this()](beast::error_code ec, std::size_t) {
        if (!ec)
          self->write();
      });
  }

private:
  void write() {
    out_ = {http::status::ok, in_.version()};
    out_.set(http::field::content_type, "application/json");
    out_.body() = in_.body();
    out_.keep_alive(in_.keep_alive());
    out_.prepare_payload();
    http::async_write(
      socket_, out_,
      [self = shared_from_this()](beast::error_code ec, std::size_t) {
        if (!ec)
          self->read();
      });
  }

  tcp::socket socket_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> in_;
  http::response<http::string_body> out_;
};

class echo_server {
public:
  echo_server() {
    accept();
    thread_ = std::thread([this] { context_.run(); });
  }
  ~echo_server() {
    context_.stop();
    thread_.join();
  }
  std::uint16_t port() { return acceptor_.local_endpoint().port(); }
  pthread_t thread() { return thread_.native_handle(); }

private:
  void accept() {
    acceptor_.async_accept([this](beast::error_code ec, tcp::socket socket) {
      if (ec)
        return;
      socket.set_option(tcp::no_delay(true));
      std::make_shared<echo_session>(std::move(socket))->read();
      accept();
    });
  }

  asio::io_context context_{1};
  tcp::acceptor acceptor_{context_, {asio::ip::address_v4::loopback(), 0}};
  std::thread thread_;
};

// -- the load ----------------------------------------------------------------

/// So many connections, each with one request under way. Answers are counted
/// by their lengths, which are the same every time.
class load {
public:
  load(std::uint16_t port, std::string request) : request_{std::move(request)} {
    for (std::size_t i = 0; i < clients; ++i) {
      auto& s = sockets_.emplace_back(context_);
      s.connect({asio::ip::address_v4::loopback(), port});
      s.set_option(tcp::no_delay(true));
    }
    asio::write(sockets_[0], asio::buffer(request_));
    answer_ = measure(sockets_[0]);
    poll_ = ::epoll_create1(EPOLL_CLOEXEC);
    for (std::size_t i = 0; i < clients; ++i) {
      epoll_event e{};
      e.events = EPOLLIN;
      e.data.u64 = i;
      ::epoll_ctl(poll_, EPOLL_CTL_ADD, sockets_[i].native_handle(), &e);
    }
  }
  ~load() { ::close(poll_); }
  load(const load&) = delete;
  load& operator=(const load&) = delete;

  void run() {
    std::vector<std::size_t> got(clients, 0);
    std::size_t sent = 0;
    std::size_t answered = 0;
    for (auto& s : sockets_) {
      asio::write(s, asio::buffer(request_));
      ++sent;
    }
    epoll_event ready[clients];
    char bytes[64 << 10];
    while (answered < sent) {
      int n = ::epoll_wait(poll_, ready, clients, 10'000);
      for (int i = 0; i < n; ++i) {
        auto at = ready[i].data.u64;
        auto fd = sockets_[at].native_handle();
        auto size = ::recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (size <= 0)
          continue;
        got[at] += static_cast<std::size_t>(size);
        if (got[at] < answer_)
          continue;
        got[at] -= answer_;
        ++answered;
        if (sent < requests) {
          asio::write(sockets_[at], asio::buffer(request_));
          ++sent;
        }
      }
      if (n <= 0)
        return;
    }
  }

private:
  static std::size_t measure(tcp::socket& s) {
    std::string text;
    auto end = asio::read_until(s, asio::dynamic_buffer(text), "\r\n\r\n");
    auto at = text.find("ontent-") == std::string::npos ? std::string::npos
                                                        : text.find("ength: ");
    auto length = std::stoul(text.substr(at + 7));
    asio::read(s, asio::dynamic_buffer(text),
               asio::transfer_exactly(end + length - text.size()));
    return end + length;
  }

  asio::io_context context_{1};
  std::string request_;
  std::vector<tcp::socket> sockets_;
  std::size_t answer_ = 0;
  int poll_ = -1;
};

std::string get(const std::string& path) {
  return "GET " + path
    + " HTTP/1.1\r\nHost: localhost\r\n"
      "X-Request-Id: bench-1\r\n\r\n";
}

std::string post(const std::string& path, const std::string& body) {
  return "POST " + path
    + " HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: bench-1\r\n"
      "Content-Type: application/json\r\nContent-Length: "
    + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// A config to read, as the engine in memory keeps it.
std::string make_config(test::fake_engine& engine) {
  caller who;
  who.organization = default_organization();
  std::string id;
  json::object config{{"timeout", 300}, {"template", "base"}};
  engine.change(
    who, put_config{backend_kind::e2b, std::move(config)},
    [&](result<change_reply> done) { id = done->config->id.str(); });
  return id;
}

/// Ends every run at once, with the same result: what is left is HTTP, JSON
/// and admission.
class instant_engine final : public test::fake_engine {
public:
  instant_engine() {
    run_result r;
    r.id = run_id::make();
    r.status = run_status::success;
    r.reason = exit_reason::exited;
    r.value_json = "42";
    done_ = std::make_shared<const run_result>(std::move(r));
  }
  void submit(caller, run_request, handler<std::shared_ptr<const run_result>> h,
              event_sink) override {
    h(done_);
  }

private:
  std::shared_ptr<const run_result> done_;
};

struct side {
  std::string name;
  std::unique_ptr<load> traffic;
  std::vector<double> cpu; // of the process, per round
};

void run(report& out) {
  instant_engine engine;
  net::server_options options;
  options.listen = {"127.0.0.1:0"};
  options.threads = 1; // as the bare one
  net::http_server server{engine, options};
  net::add_api(server.routes(), engine);
  if (auto started = server.start(); !started) {
    out.note(started.error().text);
    return;
  }
  echo_server bare;
  auto config = "/v1/sandbox-configs/" + make_config(engine);
  const std::string body = R"({"command":"true"})";
  std::vector<side> sides(5);
  sides[0] = {"bare_get", std::make_unique<load>(bare.port(), get(config)), {}};
  sides[1]
    = {"bare_post", std::make_unique<load>(bare.port(), post("/", body)), {}};
  sides[2]
    = {"livez", std::make_unique<load>(server.port(), get("/livez")), {}};
  sides[3] = {"config", std::make_unique<load>(server.port(), get(config)), {}};
  sides[4] = {
    "run", std::make_unique<load>(server.port(), post("/v1/runs", body)), {}};
  std::vector<work> works;
  for (auto& s : sides)
    works.push_back([&s] {
      auto before = cpu_seconds();
      s.traffic->run();
      s.cpu.push_back(cpu_seconds() - before);
    });
  auto times = interleave(rounds, works);
  auto per_request = [](const std::vector<double>& cpu) {
    return median(cpu) / requests * 1e6;
  };
  for (std::size_t i = 0; i < sides.size(); ++i) {
    out.add("http." + sides[i].name + ".rate", requests / median(times[i]),
            "1/s");
    out.add("http." + sides[i].name + ".cpu", per_request(sides[i].cpu),
            "us"); // client included, the same for all
  }
  out.at_least("http.livez.ratio", median_ratio(times[0], times[2]), "x", 0.8);
  out.at_least("http.config.ratio", median_ratio(times[0], times[3]), "x", 0.8);
  out.at_least("http.run.ratio", median_ratio(times[1], times[4]), "x", 0.8);
  out.at_most("http.config.more_cpu",
              per_request(sides[3].cpu) - per_request(sides[0].cpu), "us", 6);
  out.at_most("http.run.more_cpu",
              per_request(sides[4].cpu) - per_request(sides[1].cpu), "us", 6);
  out.note("one server thread each, 32 connections, this process makes the "
           "load; the engine is in memory and ends runs at once");
}

static area a{"http", "the listener beside a bare Beast echo", run};

} // namespace

} // namespace troupe::bench
