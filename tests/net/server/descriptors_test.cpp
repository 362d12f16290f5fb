// A process without descriptors still answers its operators (fault B24).
#include "tests/support/http/http_server.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <vector>

using namespace troupe;

// The sanitizers ask with a pipe whether an address can be read: without
// descriptors they report what is not so.
#ifdef __SANITIZE_ADDRESS__
constexpr bool can_do_without = false;
#else
constexpr bool can_do_without = true;
#endif

BOOST_AUTO_TEST_SUITE(http_without_descriptors,
                      *boost::unit_test::enable_if<can_do_without>())

namespace {

/// Takes every descriptor there is, up to a small limit, and gives them back.
class exhaustion {
public:
  explicit exhaustion(int spare) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    int highest = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    taken_.push_back(highest);
    rlimit small{static_cast<rlim_t>(highest + 64 + spare), before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &small);
    for (int fd = 0; fd >= 0;)
      if ((fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        taken_.push_back(fd);
    for (; spare > 0; --spare)
      give_one_back();
  }
  ~exhaustion() {
    while (!taken_.empty())
      give_one_back();
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }
  void give_one_back() {
    ::close(taken_.back());
    taken_.pop_back();
  }

private:
  rlimit before_{};
  std::vector<int> taken_;
};

/// A socket from better times, connected later.
struct early_socket {
  early_socket() : fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {}
  ~early_socket() { ::close(fd); }

  std::string ask(std::uint16_t port, const std::string& path) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0)
      return "cannot connect";
    auto text = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    pollfd p{fd, POLLIN, 0};
    char answer[2048];
    if (::poll(&p, 1, 10'000) <= 0)
      return "silence";
    auto n = ::recv(fd, answer, sizeof answer, 0);
    return {answer, n > 0 ? static_cast<std::size_t>(n) : 0};
  }
  int fd;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

BOOST_AUTO_TEST_CASE(lets_operators_in_on_the_reserved_one) {
  // No request before: its connection could end, and free one, at any time.
  net::server_options o;
  o.linger_timeout = std::chrono::milliseconds{100};
  test::http_house house{o};
  early_socket first;
  early_socket second;
  early_socket third;
  std::string alive;
  std::string refused;
  {
    exhaustion none{0};
    alive = first.ask(house.port, "/livez");
    refused = second.ask(house.port, "/v1/tools");
    auto metrics = third.ask(house.port, "/metrics");
    BOOST_TEST(has(metrics, " 200 "), metrics);
  }
  BOOST_TEST(has(alive, " 200 "), alive);
  BOOST_TEST(has(alive, "connection: close"));
  BOOST_TEST(has(refused, " 503 "), refused);
  BOOST_TEST(house.get("/v1/tools").status == 200);
}

BOOST_AUTO_TEST_CASE(closes_an_idle_connection_for_a_new_one) {
  test::http_house house;
  test::raw_client idle{house.port};
  idle.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
  BOOST_TEST(idle.read().status == 200);
  early_socket next;
  std::string answer;
  {
    exhaustion none{0};
    answer = next.ask(house.port, "/v1/tools");
  }
  BOOST_TEST(has(answer, " 200 "), answer);
  BOOST_TEST(idle.ends());
}

BOOST_AUTO_TEST_SUITE_END()
