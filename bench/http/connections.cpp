// What connections cost that do nothing, or next to nothing.
#include "bench/http/client.hpp"
#include "bench/http/load.hpp"
#include "bench/http/many_connections.hpp"
#include "bench/http/parts.hpp"
#include "net/api/api.hpp"
#include "net/server/server.hpp"

#include <unistd.h>

#include <fstream>

namespace troupe::bench {

namespace {

constexpr std::size_t idle_connections = 10'000;
constexpr std::size_t slow_clients = 500;

/// Resident bytes of this process.
double resident() {
  std::ifstream in{"/proc/self/statm"};
  double pages = 0;
  in >> pages >> pages;
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

net::server_options roomy() {
  net::server_options options;
  options.listen = {"127.0.0.1:0"};
  options.threads = 1;
  options.connection_limit = idle_connections + slow_clients;
  options.connections_per_address = 0;
  options.idle_timeout = options.head_timeout = std::chrono::minutes{5};
  return options;
}

void measure_idle(report& out, std::uint16_t port) {
  // The first ones pay for what everybody uses.
  constexpr std::size_t first = 100;
  const http_crowd early{port, first};
  const auto before = resident();
  const http_crowd late{port, idle_connections - first};
  const auto answered = early.answered() + late.answered();
  out.note(std::to_string(answered)
           + " connections that each had one answer and now keep silent");
  out.at_most("http.idle.memory",
              (resident() - before)
                / static_cast<double>(idle_connections - first) / 1'024,
              "KiB", 20);
  out.at_least("http.idle.answered", static_cast<double>(answered), "",
               static_cast<double>(idle_connections));
}

/// Each sends a byte of its head between any two requests of the others.
void measure_slow(report& out, std::uint16_t port) {
  std::vector<http_client> slow;
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
