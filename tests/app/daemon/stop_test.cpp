// SIGTERM in the middle of everything: each request that is under way gets an
// answer, and the process ends well.
#include "include/troupe/engine.hpp"
#include "tests/app/serving.hpp"
#include "tests/support/http/raw_http.hpp"
#include "tests/support/http/test_authority.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <future>
#include <memory>
#include <thread>
#include <vector>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(stops)

namespace {

/// A serving engine that links may reach, and a platform that does.
struct linked_serving {
  temporary_folder folder;
  test::test_authority ours{folder.path, "ours"};
  std::unique_ptr<serving> engine;
  std::uint16_t port = 0;
  std::unique_ptr<api::engine> platform;

  linked_serving() {
    auto own = ours.sign("engine", "DNS:localhost,IP:127.0.0.1");
    // Too short for what sleeps: it is ended.
    engine = std::make_unique<serving>(
      folder,
      std::vector<std::string>{
        "--engine.drain-timeout=300ms", "--cluster.name=engine",
        "--cluster.listen=127.0.0.1:0",
        "--cluster.certificate=" + own.certificate, "--cluster.key=" + own.key,
        "--cluster.ca=" + ours.file()});
    const auto greeting = engine->greeting();
    const auto address = address_in(greeting);
    port = static_cast<std::uint16_t>(
      std::stoi(address.substr(address.rfind(':') + 1)));
    const std::string before{"connections: port "};
    const auto at = greeting.find(before);
    BOOST_REQUIRE_MESSAGE(at != greeting.npos, greeting);
    auto client = ours.sign("platform", "DNS:platform");
    auto opened = api::connect(
      "127.0.0.1",
      static_cast<std::uint16_t>(
        std::stoi(greeting.substr(at + before.size()))),
      api::identity{client.certificate, client.key, ours.file()});
    BOOST_REQUIRE(opened.index() == 0u);
    platform = std::move(std::get<0>(opened));
  }
};

void wait_until_running(std::uint16_t port, int runs) {
  const auto line = "\ntroupe_runs_running " + std::to_string(runs) + "\n";
  while (test::ask(port, "GET", "/metrics").body.find(line)
         == std::string::npos)
    std::this_thread::yield();
}

void stop_in_the_middle() {
  linked_serving s;
  constexpr int each = 3;
  std::vector<std::future<test::raw_answer>> answers, streams;
  std::vector<std::future<api::reply>> replies;
  for (int i = 0; i < each; ++i) {
    auto ask = [port = s.port](const char* fields) {
      return [=] {
        return test::ask(port, "POST", "/v1/runs", R"({"command":"sleep 600"})",
                         fields);
      };
    };
    answers.push_back(std::async(std::launch::async, ask("")));
    streams.push_back(
      std::async(std::launch::async, ask("Accept: application/x-ndjson\r\n")));
    api::message m;
    m.source = "def f():\n    import time\n    time.sleep(600)\n";
    replies.push_back(s.platform->submit(std::move(m)));
  }
  wait_until_running(s.port, 3 * each);
  BOOST_TEST(s.engine->end(SIGTERM) == 0);
  for (auto& answer : answers) {
    auto a = answer.get();
    BOOST_TEST(a.status >= 200, a.body);
    BOOST_TEST(a.body.ends_with("}"), a.body);
  }
  for (auto& stream : streams) {
    auto a = stream.get();
    BOOST_TEST(a.body.find(R"("type":"end")") != std::string::npos, a.body);
  }
  for (auto& reply : replies)
    BOOST_TEST(
      (reply.wait_for(std::chrono::seconds{60}) == std::future_status::ready));
}

} // namespace

BOOST_AUTO_TEST_CASE(answer_whoever_waits_and_end_well) {
  const char* given = std::getenv("TROUPE_STOP_ROUNDS");
  const int rounds = given ? std::atoi(given) : 3;
  for (int round = 0; round < rounds; ++round)
    BOOST_TEST_CONTEXT("round " << round)
  stop_in_the_middle();
}

BOOST_AUTO_TEST_SUITE_END()
