#include "bench/providers/fake_e2b_server.hpp"

#include "runtime/runner/stdout_frame.hpp"

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <system_error>
#include <thread>

namespace troupe::bench {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using steady = std::chrono::steady_clock;

namespace {

// A run's script comes in a few reads and not in a hundred: the CPU of the
// stand-in is not what is measured, but it shares the cores.
constexpr std::size_t script_bytes = 64u << 10;

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

} // namespace

// -- over TLS -----------------------------------------------------------------

class tls_house::impl : public house {
public:
  impl(const std::string& certificate_pem, const std::string& key_pem)
      : context_{asio::ssl::context::tls_server} {
    context_.use_certificate_chain(asio::buffer(certificate_pem));
    context_.use_private_key(asio::buffer(key_pem), asio::ssl::context::pem);
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

tls_house::tls_house(const std::string& certificate_pem,
                     const std::string& key_pem)
    : impl_{std::make_unique<impl>(certificate_pem, key_pem)} {}

tls_house::~tls_house() = default;

std::uint16_t tls_house::port() const {
  return impl_->port();
}

// -- far away -----------------------------------------------------------------

struct far_e2b::counts {
  std::atomic<int> created{0};
  std::atomic<int> ended{0};
};

class far_e2b::server : public house {
public:
  server(std::chrono::milliseconds latency, counts& into,
         const std::string& certificate_pem, const std::string& key_pem)
      : latency_{latency}, counts_{into}, context_{
                                            asio::ssl::context::tls_server} {
    context_.use_certificate_chain(asio::buffer(certificate_pem));
    context_.use_private_key(asio::buffer(key_pem), asio::ssl::context::pem);
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
      buffer.reserve(script_bytes);
      asio::steady_timer timer{io_};
      for (;;) {
        http::request<http::string_body> request;
        co_await http::async_read(stream, buffer, request, asio::use_awaitable);
        auto came = steady::now();
        auto answer = answer_to(request);
        request = {};
        timer.expires_at(came + latency_);
        co_await timer.async_wait(asio::use_awaitable);
        co_await http::async_write(stream, answer, asio::use_awaitable);
      }
    } catch (const std::exception&) {
    }
  }

  http::response<http::string_body>
  answer_to(const http::request<http::string_body>& request) {
    http::response<http::string_body> answer{http::status::ok, 11};
    if (request.method() == http::verb::delete_) {
      ++counts_.ended;
      answer.result(http::status::no_content);
    } else if (request.target() == "/execute") {
      answer.body() = cell(request.body());
    } else {
      answer.result(http::status::created);
      answer.body() = R"({"sandboxID":"i)" + std::to_string(++counts_.created)
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

  std::chrono::milliseconds latency_;
  counts& counts_;
  asio::ssl::context context_;
};

far_e2b::far_e2b(std::chrono::milliseconds latency,
                 const std::string& certificate_pem,
                 const std::string& key_pem) {
  auto* shared = ::mmap(nullptr, sizeof(counts), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int told[2];
  if (shared == MAP_FAILED || ::pipe(told) != 0)
    throw std::system_error{errno, std::generic_category()};
  counts_ = new (shared) counts;
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    server here{latency, *counts_, certificate_pem, key_pem};
    auto port = here.port();
    if (::write(told[1], &port, sizeof port) == sizeof port)
      for (;;)
        ::pause();
    ::_exit(1);
  }
  ::close(told[1]);
  if (::read(told[0], &port_, sizeof port_) != sizeof port_)
    port_ = 0; // nobody will answer, and the report says so
  ::close(told[0]);
}

far_e2b::~far_e2b() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::munmap(counts_, sizeof(counts));
}

int far_e2b::created() const {
  return counts_->created;
}

int far_e2b::ended() const {
  return counts_->ended;
}

} // namespace troupe::bench
