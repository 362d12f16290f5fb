// What living sandboxes reach outside: connections and bytes by way of the
// network broker, beside the same program on the host.
#include "bench/sandboxes/machine.hpp"
#include "runtime/local/interpreters.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

namespace troupe::bench {

namespace {

constexpr std::size_t rounds = 12;
constexpr std::size_t bulk = 256u << 20;
constexpr const char* outside = "127.0.0.9"; // counts as the internet here

/// Sends `bulk` bytes to who sends one first; closes all others.
class sender {
public:
  sender() : listening_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    socklen_t size = sizeof any;
    ::bind(listening_.get(), reinterpret_cast<sockaddr*>(&any), size);
    ::listen(listening_.get(), 1'024);
    ::getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&any), &size);
    port_ = ntohs(any.sin_port);
    thread_ = std::thread{[this] {
      while (unique_fd one{
        ::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC)})
        answer(one.get());
    }};
  }
  ~sender() {
    ::shutdown(listening_.get(), SHUT_RDWR);
    thread_.join();
  }
  std::string port() const { return std::to_string(port_); }

private:
  static void answer(int client) {
    char asked = 0;
    if (::recv(client, &asked, 1, 0) != 1)
      return;
    const std::vector<char> some(1u << 20);
    for (std::size_t sent = 0; sent < bulk;) {
      const auto n = ::send(client, some.data(), some.size(), MSG_NOSIGNAL);
      if (n <= 0)
        return;
      sent += static_cast<std::size_t>(n);
    }
  }

  unique_fd listening_;
  int port_ = 0;
  std::thread thread_;
};

/// Prints microseconds of a connection, and bytes a microsecond.
std::string client_of(const sender& to) {
  const auto address = "('" + std::string{outside} + "', " + to.port() + ")";
  return "import socket, time\n"
         "def connect():\n"
         "    s = socket.socket()\n"
         "    s.connect("
    + address
    + ")\n"
      "    return s\n"
      "for _ in range(20): connect().close()\n"
      "begun = time.perf_counter()\n"
      "for _ in range(20): connect().close()\n"
      "connection = (time.perf_counter() - begun) * 1e6 / 20\n"
      "s = connect()\n"
      "room = bytearray(1 << 20)\n"
      "begun = time.perf_counter()\n"
      "s.send(b'x')\n"
      "got = 0\n"
      "while n := s.recv_into(room): got += n\n"
      "print(connection, got / (time.perf_counter() - begun) / 1e6)\n";
}

struct told {
  std::vector<double> connection;
  std::vector<double> bulk;
  void add(const std::string& line) {
    double us = 0;
    double rate = 0;
    demand(std::sscanf(line.c_str(), "%lf %lf", &us, &rate) == 2,
           "the client says what it measured");
    connection.push_back(us);
    bulk.push_back(rate);
  }
};

std::string run_plainly(const std::string& program) {
  std::string said(256, '\0');
  const auto command
    = find_interpreters({}).python.path + " -c \"" + program + "\"";
  auto* out = ::popen(command.c_str(), "r");
  demand(out != nullptr, "a shell");
  said.resize(std::fread(said.data(), 1, said.size(), out));
  ::pclose(out);
  return said;
}

void measure_outside(report& out) {
  sender peer;
  network::broker_options network;
  network.ordinary = {*parse_ip_network("127.0.0.8/29")};
  network.guard_sockets = false; // knows better than that
  sandbox_machine here{0, network};
  auto wanted = sandbox_machine::request();
  wanted.organization = default_organization();
  wanted.network.mode = network_mode::open;
  const auto box = here.make(wanted);
  const auto closed = here.make();
  const auto program = client_of(peer);
  const std::vector<std::string> no_work{"/bin/true"};
  told inside, plain;
  std::vector<double> with, without;
  for (std::size_t i = 0; i < rounds; ++i) {
    plain.add(run_plainly(program));
    inside.add(here.output_of(box, {"/usr/bin/python3", "-c", program}));
  }
  for (std::size_t i = 0; i < 5 * rounds; ++i) {
    with.push_back(seconds([&] { here.run(box, no_work); }));
    without.push_back(seconds([&] { here.run(closed, no_work); }));
  }
  here.destroy(box);
  here.destroy(closed);
  out.add("outside.connection.brokered", median(inside.connection), "us");
  out.add("outside.connection.plain", median(plain.connection), "us");
  out.add("outside.connection.vs_plain",
          median_ratio(inside.connection, plain.connection), "x");
  out.add("outside.bulk.rate", median(inside.bulk), "MB/s");
  out.add("outside.bulk.vs_plain", median_ratio(inside.bulk, plain.bulk), "x");
  out.add("outside.execute.vs_off", median_ratio(with, without), "x");
  out.note("a python3 in a living sandbox that connects to a server of the "
           "host and reads 256 MiB from it, beside the same on the host; and "
           "/bin/true in a sandbox with a network, beside one without");
}

const area outside_area{"outside", "the network of living sandboxes",
                        measure_outside};

} // namespace

} // namespace troupe::bench
