// What the network broker costs: a tool that opens connections, beside the same
// code outside of any sandbox, and tools that open none.
#include "bench/bench.hpp"
#include "bench/local/engine.hpp"
#include "bench/local/record.hpp"
#include "runtime/local/interpreters.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <future>
#include <thread>

namespace troupe::bench {

namespace {

constexpr int connections = 20;

/// On loopback; takes connections and closes them.
class peer {
public:
  peer() : listening_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof own;
    ::bind(listening_.get(), reinterpret_cast<sockaddr*>(&own), size);
    ::listen(listening_.get(), 1'024);
    ::getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&own), &size);
    port_ = ntohs(own.sin_port);
    thread_ = std::thread{[this] {
      while (unique_fd one{
        ::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC)})
        ;
    }};
  }
  ~peer() {
    ::shutdown(listening_.get(), SHUT_RDWR);
    thread_.join();
  }
  std::string port() const { return std::to_string(port_); }

private:
  unique_fd listening_;
  int port_ = 0;
  std::thread thread_;
};

/// Microseconds that one connection took inside of it.
std::string connecting_tool(const peer& to) {
  return "import socket, time\n"
         "def connect() -> float:\n"
         "    begun = time.perf_counter()\n"
         "    for _ in range("
    + std::to_string(connections)
    + "):\n"
      "        s = socket.socket()\n"
      "        s.connect(('127.0.0.1', "
    + to.port()
    + "))\n"
      "        s.close()\n"
      "    return (time.perf_counter() - begun) * 1e6 / "
    + std::to_string(connections) + "\n";
}

class answer_of final : public run_observer {
public:
  explicit answer_of(std::promise<std::string> to) : to_{std::move(to)} {}
  void finished(run_outcome outcome) override {
    to_.set_value(outcome.answer ? outcome.answer->value_json : "");
  }

private:
  std::promise<std::string> to_;
};

/// One after the other; the latency of each, and what each returned.
batch run_alone(local_engine& engine, const std::string& source,
                const network_policy& policy, std::size_t calls,
                std::vector<double>* returned = nullptr) {
  batch b;
  b.seconds = seconds([&] {
    for (std::size_t i = 0; i < calls; ++i) {
      auto run = std::make_shared<prepared_run>();
      run->id = run_id::make();
      run->organization = default_organization();
      run->kind = run_kind::source;
      run->lang = language::python;
      run->source = source;
      run->name = run->function = "connect";
      run->network = policy;
      run->limits.wall = std::chrono::seconds{60};
      std::promise<std::string> done;
      auto value = done.get_future();
      b.latencies.push_back(seconds([&] {
        engine.carrier()->start(run,
                                std::make_shared<answer_of>(std::move(done)));
        value.wait();
      }));
      const auto text = value.get();
      b.failures += text.empty() ? 1u : 0u;
      if (returned && !text.empty())
        returned->push_back(std::stod(text));
    }
  });
  return b;
}

/// The same code in a process of its own, with nothing around it.
double connect_plainly(const std::string& source) {
  const auto command = find_interpreters({}).python.path + " -c \"" + source
    + "connect(); print(connect())\"";
  double value = 0;
  if (auto* out = ::popen(command.c_str(), "r")) {
    if (std::fscanf(out, "%lf", &value) != 1)
      value = 0;
    ::pclose(out);
  }
  return value;
}

void run(report& out) {
  peer server;
  local_engine engine{0};
  const auto source = connecting_tool(server);
  const std::string quiet = "def connect() -> float:\n    return 1.0\n";
  const network_policy off{network_mode::off, {}};
  const network_policy open{};
  const network_policy listed{network_mode::listed,
                              {"127.0.0.1:" + server.port()}};
  std::vector<double> brokered, plain;
  auto all = measure({
    {"off", [&] { return run_alone(engine, quiet, off, 200); }},
    {"public", [&] { return run_alone(engine, quiet, open, 200); }},
    {"connecting",
     [&] {
       plain.push_back(connect_plainly(source));
       return run_alone(engine, source, listed, 100, &brokered);
     }},
  });
  for (const auto& [name, r] : all)
    print_side(out, "network." + name, r);
  out.add("network.public.p50.vs_off",
          median_ratio(all["public"].p50, all["off"].p50), "x");
  out.add("network.connection.brokered", median(brokered), "us");
  out.add("network.connection.plain", median(plain), "us");
  out.add("network.connection.vs_plain", median(brokered) / median(plain), "x");
  out.add("network.run_of_20.p50", median(all["connecting"].p50) * 1e6, "us");
  out.note("a tool that makes 20 connections through the broker, beside the "
           "same code in a plain python3; and a tool that makes none");
}

const area network_area{"network", "the network broker, beside a plain connect",
                        run};

} // namespace

} // namespace troupe::bench
