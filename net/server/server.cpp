#include "net/server/server.hpp"

#include "net/server/health_routes.hpp"
#include "net/server/io_worker.hpp"
#include "net/server/operator_socket.hpp"
#include "net/server/port_owner.hpp"
#include "net/server/transport.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/metrics_writer.hpp"

#include <boost/asio/ip/address.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <utility>

namespace troupe::net {

namespace asio = boost::asio;

namespace {

// Enough for a burst between two turns of a busy loop.
constexpr int backlog = 1024;
constexpr unsigned most_threads = 8;
// Of cores: where a thread of the server's own would only take the place of a
// tool.
constexpr unsigned few = 2;

using endpoint = asio::ip::tcp::endpoint;

result<endpoint> parse_listen(std::string_view text) {
  auto colon = text.rfind(':');
  unsigned port = 65'536;
  if (colon != std::string_view::npos) {
    auto digits = text.substr(colon + 1);
    auto end = digits.data() + digits.size();
    if (std::from_chars(digits.data(), end, port).ptr != end)
      port = 65'536;
  }
  auto host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  if (host == "localhost")
    host = "127.0.0.1";
  boost::system::error_code ec;
  auto address = asio::ip::make_address(std::string{host}, ec);
  if (ec || port > 65'535)
    return bad_field(
      "listen", "'" + std::string{text} + "' is not an address with a port",
      "write it like 127.0.0.1:8283 or [::1]:8283");
  return endpoint{address, static_cast<std::uint16_t>(port)};
}

error bind_error(const endpoint& at) {
  auto reason = errno;
  error e;
  e.code = ec::unavailable;
  e.text = "cannot listen on " + at.address().to_string() + ":"
    + std::to_string(at.port()) + ": " + std::strerror(reason);
  if (reason == EADDRINUSE) {
    auto owner = port_owner(at);
    e.text += "; the port is in use"
      + (owner.empty() ? std::string{} : " by " + owner)
      + ": stop that, or choose another port";
  }
  return e;
}

/// A listening socket, or -1 with errno. With `shared`, further sockets of
/// this process may listen there too and the kernel spreads the connections.
int open_listener(const endpoint& at, bool shared) {
  int fd = ::socket(at.protocol().family(),
                    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0)
    return -1;
  int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (shared)
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  if (at.address().is_v6())
    ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (::bind(fd, at.data(), static_cast<socklen_t>(at.size())) == 0
      && ::listen(fd, backlog) == 0)
    return fd;
  auto reason = errno;
  ::close(fd);
  errno = reason;
  return -1;
}

std::uint16_t port_of(int fd) {
  endpoint at;
  auto size = static_cast<socklen_t>(at.capacity());
  ::getsockname(fd, at.data(), &size);
  at.resize(size);
  return at.port();
}

} // namespace

struct http_server::listening {
  endpoint at;
  std::string text;
};

http_server::http_server(engine& core, server_options options)
    : state_{std::make_shared<server_state>(core, std::move(options))} {
  std::function<std::string()> counters;
  if (state_->options.metrics)
    counters = [this] {
      const auto& more = state_->options.more_metrics;
      return metrics() + (more ? more() : std::string{});
    };
  if (!state_->options.pages_of_tenants)
    add_operators(state_->routes, core, std::move(counters));
}

http_server::~http_server() {
  stop();
}

router& http_server::routes() {
  return state_->routes;
}

std::vector<std::string> http_server::addresses() const {
  return addresses_;
}

std::uint16_t http_server::port() const {
  return port_;
}

result<void> http_server::start() {
  const auto& options = state_->options;
  if (options.tls_certificate_file.empty() != options.tls_key_file.empty())
    return bad_field("tls", "certificate and key must be set together",
                     "set both or neither");
  if (!options.tls_certificate_file.empty())
    if (auto loaded = reload_tls(); !loaded)
      return loaded;
  const auto cores = std::max(std::thread::hardware_concurrency(), 1u);
  auto threads = options.threads;
  if (threads == 0)
    threads = options.host && cores <= few ? 1u : std::min(cores, most_threads);
  auto* host = threads == 1 ? options.host : nullptr;
  for (unsigned i = 0; i < threads; ++i)
    workers_.push_back(std::make_shared<io_worker>(state_, host));
  if (auto bound = bind_all(threads); !bound) {
    workers_.clear();
    return bound;
  }
  for (auto& w : workers_)
    w->start();
  return {};
}

/// The world must not be let in without keys.
result<void>
http_server::check_exposure(const std::vector<listening>& all) const {
  auto catalog = state_->core.snapshot();
  if ((catalog && !catalog->keys_by_hash.empty())
      || state_->options.pages_of_tenants)
    return {};
  for (const auto& one : all)
    if (!one.at.address().is_loopback())
      return bad_field(
        "listen",
        one.text + " is reachable from other machines, but there is no API key",
        "create one with 'troupe key create', or listen on 127.0.0.1");
  return {};
}

result<void> http_server::bind_all(unsigned threads) {
  std::vector<listening> all;
  for (const auto& text : state_->options.listen) {
    auto at = parse_listen(text);
    if (!at)
      return at.error();
    all.push_back({*at, text});
  }
  if (auto safe = check_exposure(all); !safe)
    return safe;
  for (auto& one : all) {
    // Alone first: SO_REUSEPORT would also let a second server in unnoticed.
    int probe = open_listener(one.at, false);
    if (probe < 0)
      return bind_error(one.at);
    one.at.port(port_of(probe));
    ::close(probe);
    for (unsigned i = 0; i < threads; ++i) {
      int fd = open_listener(one.at, true);
      if (fd < 0)
        return bind_error(one.at);
      workers_[i]->listen_on(fd, one.at.address().is_loopback());
    }
    auto host = one.at.address().to_string();
    addresses_.push_back((one.at.address().is_v6() ? "[" + host + "]" : host)
                         + ":" + std::to_string(one.at.port()));
    if (port_ == 0)
      port_ = one.at.port();
  }
  return bind_operator_socket();
}

result<void> http_server::bind_operator_socket() {
  const auto& socket = state_->options.operator_socket;
  if (socket.empty())
    return {};
  auto opened = open_operator_socket(socket);
  if (opened) {
    workers_.front()->listen_to_operators(opened->release());
    serves_operators_ = true;
    return {};
  }
  if (addresses_.empty())
    return opened.error();
  log::warning("no socket for the operator",
               {{"reason", opened.error().text},
                {"way_out", "use an API key with the scope 'operator'"}});
  return {};
}

result<void> http_server::reload_tls() {
  auto fresh = load_tls(state_->options);
  if (!fresh)
    return fresh.error();
  state_->tls(std::move(*fresh));
  return {};
}

bool http_server::drain(std::chrono::milliseconds grace) {
  state_->draining.store(true);
  for (auto& w : workers_)
    w->drain();
  return state_->wait_until_quiet(grace);
}

void http_server::stop() {
  state_->draining.store(true);
  state_->readers.stop(); // who waits there is answered while that can be sent
  for (auto& w : workers_)
    w->stop();
  if (std::exchange(serves_operators_, false)) {
    std::error_code ignored;
    std::filesystem::remove(state_->options.operator_socket, ignored);
  }
}

std::string http_server::metrics() const {
  std::vector<const counters*> all;
  for (const auto& w : workers_)
    all.push_back(&w->counts());
  metrics_writer out;
  auto gauge = [&](std::string_view name, std::string_view help,
                   std::size_t value) { out.gauge(name, help, value); };
  gauge("troupe_http_connections", "Open connections.",
        state_->connections.load());
  gauge("troupe_http_requests_in_flight", "Requests in progress.",
        state_->in_flight.load());
  gauge("troupe_http_body_bytes", "Bytes of request bodies in memory.",
        state_->bodies.load());
  gauge("troupe_http_stream_bytes", "Bytes of streams not read by clients yet.",
        state_->streams.held());
  return render(all, state_->routes) + out.take();
}

} // namespace troupe::net
