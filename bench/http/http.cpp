// The listener beside a bare Beast server that echoes, over the same sockets,
// by the same load, in turns: what admission, routing, identity and rendering
// cost on top of HTTP itself. Then what many connections cost, and what is
// left of the local backend's rate behind all of it.
#include "bench/http/echo.hpp"
#include "bench/http/load.hpp"
#include "bench/http/parts.hpp"
#include "net/api/api.hpp"
#include "net/server/server.hpp"

namespace troupe::bench {

namespace {

constexpr std::size_t clients = 32;
constexpr std::size_t requests = 20'000; // per round and side
constexpr std::size_t rounds = 7;

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

struct side {
  std::string name;
  std::unique_ptr<http_load> traffic;
  std::vector<double> cpu; // of the process, per round
  std::vector<double> p50, p99;
  std::size_t failures = 0;

  void round() {
    auto before = cpu_seconds();
    auto done = traffic->run(requests);
    cpu.push_back(cpu_seconds() - before);
    p50.push_back(quantile(done.latencies, 0.5));
    p99.push_back(quantile(done.latencies, 0.99));
    failures += done.failures;
  }
};

double per_request(const std::vector<double>& cpu) {
  return median(cpu) / requests * 1e6;
}

void print(report& out, const side& s, const std::vector<double>& times) {
  auto name = "http." + s.name;
  out.add(name + ".rate", requests / median(times), "1/s");
  out.add(name + ".p50", median(s.p50) * 1e6, "us");
  out.add(name + ".p99", median(s.p99) * 1e6, "us");
  // Client included, the same for all.
  out.add(name + ".cpu", per_request(s.cpu), "us");
  if (s.failures > 0)
    out.at_most(name + ".failures", static_cast<double>(s.failures), "", 0);
}

void measure_overhead(report& out) {
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
  auto traffic = [](std::uint16_t port, std::string request) {
    return std::make_unique<http_load>(port, std::move(request), clients);
  };
  std::vector<side> sides(5);
  sides[0].name = "bare_get";
  sides[0].traffic = traffic(bare.port(), http_get(config));
  sides[1].name = "bare_post";
  sides[1].traffic = traffic(bare.port(), http_post("/", body));
  sides[2].name = "livez";
  sides[2].traffic = traffic(server.port(), http_get("/livez"));
  sides[3].name = "config";
  sides[3].traffic = traffic(server.port(), http_get(config));
  sides[4].name = "run";
  sides[4].traffic = traffic(server.port(), http_post("/v1/runs", body));
  std::vector<work> works;
  for (auto& s : sides)
    works.push_back([&s] { s.round(); });
  auto times = interleave(rounds, works);
  for (std::size_t i = 0; i < sides.size(); ++i)
    print(out, sides[i], times[i]);
  out.at_least("http.livez.ratio", median_ratio(times[0], times[2]), "x", 0.8);
  out.at_least("http.config.ratio", median_ratio(times[0], times[3]), "x", 0.8);
  out.at_least("http.run.ratio", median_ratio(times[1], times[4]), "x", 0.8);
  out.at_most("http.config.more_cpu",
              per_request(sides[3].cpu) - per_request(sides[0].cpu), "us", 6);
  out.at_most("http.run.more_cpu",
              per_request(sides[4].cpu) - per_request(sides[1].cpu), "us", 6);
}

void run(report& out) {
  out.note("bare, livez, config, run: one server thread each, 32 connections, "
           "this process makes the load; the engine is in memory and ends "
           "runs at once");
  measure_overhead(out);
  measure_connections(out);
  measure_served_runs(out);
}

static area a{"http", "the listener beside a bare Beast echo", run};

} // namespace

} // namespace troupe::bench
