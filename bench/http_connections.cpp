// What connections cost that do nothing, or next to nothing.
#include "bench/http_load.hpp"
#include "bench/http_parts.hpp"
#include "net/api/api.hpp"
#include "net/server/server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace troupe::bench {

namespace {

constexpr std::size_t idle_connections = 10'000;
constexpr std::size_t slow_clients = 500;
constexpr std::size_t spare_descriptors = 200;

/// Resident bytes of this process.
double resident() {
  std::ifstream in{"/proc/self/statm"};
  double pages = 0;
  in >> pages >> pages;
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

/// A client without any memory of its own in this process.
class bare_client {
public:
  explicit bare_client(std::uint16_t port) {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) {
      ::close(fd_);
      fd_ = -1;
    }
  }
  bare_client(bare_client&& other) noexcept
      : fd_{std::exchange(other.fd_, -1)} {}
  bare_client& operator=(bare_client&&) = delete;
  ~bare_client() {
    if (fd_ >= 0)
      ::close(fd_);
  }

  bool send(std::string_view bytes) const {
    return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL)
      == static_cast<ssize_t>(bytes.size());
  }
  bool answered() const {
    char bytes[2048];
    return ::recv(fd_, bytes, sizeof bytes, 0) > 0;
  }

private:
  int fd_ = -1;
};

net::server_options roomy() {
  net::server_options options;
  options.listen = {"127.0.0.1:0"};
  options.threads = 1;
  options.connection_limit = idle_connections + slow_clients;
  options.connections_per_address = 0;
  options.idle_timeout = options.head_timeout = std::chrono::minutes{5};
  return options;
}

/// Both ends are ours: two descriptors each. Where the hard limit is lower,
/// only a privileged process gets past it.
std::size_t as_many_as_fit() {
  constexpr rlim_t needed = 2 * idle_connections + spare_descriptors;
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  const rlimit wanted{needed, std::max(needed, files.rlim_max)};
  if (::setrlimit(RLIMIT_NOFILE, &wanted) == 0)
    return idle_connections;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  auto most = static_cast<std::size_t>(files.rlim_cur);
  return std::min(idle_connections, (most - spare_descriptors) / 2);
}

void measure_idle(report& out, std::uint16_t port) {
  const auto count = as_many_as_fit();
  std::vector<bare_client> all;
  all.reserve(count);
  const auto request = http_get("/livez");
  // The first ones pay for what everybody uses.
  constexpr std::size_t first = 100;
  double before = 0;
  std::size_t answered = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i == first)
      before = resident();
    all.emplace_back(port);
    if (all.back().send(request) && all.back().answered())
      ++answered;
  }
  out.note(std::to_string(answered)
           + " connections that each had one answer and now keep silent");
  out.at_most("http.idle.memory",
              (resident() - before) / static_cast<double>(count - first)
                / 1'024,
              "KiB", 20);
  out.at_least("http.idle.answered", static_cast<double>(answered), "",
               static_cast<double>(idle_connections));
}

/// Each sends a byte of its head between any two requests of the others.
void measure_slow(report& out, std::uint16_t port) {
  std::vector<bare_client> slow;
  const std::string head = "GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
  for (std::size_t i = 0; i < slow_clients; ++i)
    slow.emplace_back(port).send(head);
  http_load quick{port, http_get("/livez"), 1};
  std::vector<double> latencies;
  for (int i = 0; i < 100; ++i) {
    for (auto& s : slow)
      s.send("x");
    latencies.push_back(quick.run(1).latencies.front());
  }
  out.add("http.slowloris.livez.p50", quantile(latencies, 0.5) * 1e3, "ms");
  out.at_most("http.slowloris.livez.max", quantile(latencies, 1) * 1e3, "ms",
              100);
}

} // namespace

void measure_connections(report& out) {
  instant_engine engine;
  net::http_server server{engine, roomy()};
  net::add_api(server.routes(), engine);
  if (auto started = server.start(); !started) {
    out.note(started.error().text);
    return;
  }
  measure_slow(out, server.port());
  measure_idle(out, server.port());
}

} // namespace troupe::bench
