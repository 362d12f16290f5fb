// A server whose only thread is somebody else's: that of the local runs, in
// whose place an actor thread may be.
#include "runtime/async/io_thread.hpp"
#include "tests/support/http/http_server.hpp"

#include <boost/asio/post.hpp>

#include <filesystem>
#include <future>
#include <thread>

using namespace troupe;
using test::http_house;
using test::raw_client;

BOOST_AUTO_TEST_SUITE(http_guest)

namespace {

std::ptrdiff_t threads() {
  std::filesystem::directory_iterator all{"/proc/self/task"};
  return std::distance(begin(all), end(all));
}

net::server_options guest_of(io_thread& host) {
  net::server_options o;
  o.host = &host.context();
  return o;
}

const std::string run_text
  = "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
    "application/json\r\nContent-Length: 18\r\n\r\n{\"command\":\"true\"}";

/// The engine has the run: each round trip lets the server go on.
void wait_until_held(http_house& house) {
  for (int i = 0; i < 2'000 && house.engine.held() == 0; ++i)
    house.get("/livez");
  BOOST_REQUIRE(house.engine.held() != 0);
}

/// A thread in the host's place, doing `between` between two events.
class stand_in {
public:
  stand_in(io_thread& host, std::function<void()> between)
      : host_{host}, thread_{[this, between = std::move(between)] {
          taken_.set_value(host_.take());
          while (!over_) {
            host_.serve_one();
            between();
          }
          host_.give_back();
        }} {
    BOOST_REQUIRE(taken_.get_future().get());
  }
  ~stand_in() {
    over_ = true;
    host_.wake();
    thread_.join();
  }

private:
  io_thread& host_;
  std::promise<bool> taken_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

} // namespace

BOOST_AUTO_TEST_CASE(brings_no_thread_of_its_own) {
  io_thread host;
  const auto before = threads();
  http_house house{guest_of(host)};
  BOOST_TEST(house.get("/livez").status == 200);
  raw_client client{house.port};
  client.send(run_text);
  BOOST_TEST(client.read().status == 200);
  BOOST_TEST(threads() == before);
}

BOOST_AUTO_TEST_CASE(has_threads_of_its_own_where_several_are_wanted) {
  io_thread host;
  const auto before = threads();
  auto options = guest_of(host);
  options.threads = 2;
  http_house house{options};
  BOOST_TEST(house.get("/livez").status == 200);
  BOOST_TEST(threads() == before + 2);
}

BOOST_AUTO_TEST_CASE(answers_whoever_serves_in_the_place_of_its_host) {
  io_thread host;
  http_house house{guest_of(host)};
  house.engine.hold = true;
  // The answer comes between two events, from the very thread that serves:
  // nobody has to be woken for it.
  std::atomic<bool> release{false};
  stand_in other{host, [&] {
                   if (release.exchange(false))
                     house.engine.release();
                 }};
  for (int i = 0; i < 3; ++i) {
    raw_client client{house.port};
    client.send(run_text);
    wait_until_held(house);
    release = true;
    host.wake();
    BOOST_TEST(client.read().status == 200);
  }
}

BOOST_AUTO_TEST_CASE(answers_across_a_change_of_hands) {
  io_thread host;
  http_house house{guest_of(host)};
  house.engine.hold = true;
  raw_client client{house.port};
  client.send(run_text);
  wait_until_held(house);
  {
    stand_in other{host, [] {}};
    BOOST_TEST(house.get("/livez").status == 200);
  }
  house.engine.release(); // on a thread that has nothing to do with sockets
  BOOST_TEST(client.read().status == 200);
}

BOOST_AUTO_TEST_CASE(leaves_its_host_as_it_found_it) {
  io_thread host;
  {
    http_house house{guest_of(host)};
    house.engine.hold = true;
    raw_client idle{house.port};
    idle.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
    BOOST_TEST(idle.read().status == 200);
    raw_client slow{house.port};
    slow.send("GET /li");
    raw_client waiting{house.port};
    waiting.send(run_text);
    wait_until_held(house);
    const auto began = std::chrono::steady_clock::now();
    house.server.stop();
    BOOST_TEST(
      (std::chrono::steady_clock::now() - began < std::chrono::seconds{5}));
    BOOST_TEST(idle.ends());
    BOOST_TEST(slow.ends());
    BOOST_TEST(waiting.ends());
    house.engine.release(); // an answer for nobody
  }
  std::promise<void> lives;
  boost::asio::post(host.executor(), [&] { lives.set_value(); });
  lives.get_future().get();
}

BOOST_AUTO_TEST_SUITE_END()
