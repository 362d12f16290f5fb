// Links between nodes: who gets in, and what a stranger can do (B60, B61 of
// docs/reference/rules.md).
#include "actors/cluster/basp_frame_limit.hpp"
#include "actors/engine/engine_internals.hpp"
#include "actors/protocol/link_options.hpp"
#include "include/troupe/engine.hpp"
#include "tests/support/engine/engine_fixture.hpp"
#include "tests/support/http/test_authority.hpp"
#include "tests/support/temporary_directory.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <thread>
#include <vector>

using namespace troupe;
using namespace troupe::test;
namespace asio = boost::asio;

namespace {

/// An engine with a door, and an authority that knows it.
struct house {
  tests::temporary_directory folder;
  test_authority ours{folder.path(), "ours"};
  std::unique_ptr<engine_fixture> engine;

  explicit house(std::uint32_t pending = 100) {
    auto own = ours.sign("engine", "DNS:localhost,IP:127.0.0.1");
    engine_options options;
    options.links
      = link_options{"127.0.0.1:0", {own.certificate, own.key, ours.file()}, 4};
    options.drain_timeout = std::chrono::seconds{5};
    options.pending = pending;
    engine = std::make_unique<engine_fixture>(scripted_backend::mode::answer,
                                              std::move(options));
  }
  std::uint16_t port() { return engine->host->published_port(); }

  api::opened connect(const test_authority& signer, const std::string& who,
                      const std::string& host = "127.0.0.1",
                      long valid = 3'600) {
    auto f = signer.sign(who, "DNS:" + who, {-7'200, valid});
    api::identity us{f.certificate, f.key, ours.file()};
    return api::connect(host, port(), us);
  }
};

api::message some_message() {
  api::message m;
  m.source = "def f(x: int): return x";
  m.function = "f";
  m.arguments = R"({"x":1})";
  return m;
}

std::string code_of(const api::opened& o) {
  auto* failed = std::get_if<api::failure>(&o);
  return failed ? failed->code + ": " + failed->text : "connected";
}

void expect_work(api::opened& opened) {
  BOOST_REQUIRE_MESSAGE(opened.index() == 0, code_of(opened));
  auto reply = std::get<0>(opened)->submit(some_message()).get();
  auto* answer = std::get_if<api::answer>(&reply);
  BOOST_REQUIRE(answer);
  BOOST_TEST(answer->value == R"({"x":1})");
}

} // namespace

BOOST_AUTO_TEST_SUITE(doors)

BOOST_AUTO_TEST_CASE(let_in_who_has_a_certificate_of_the_authority) {
  house h;
  auto client = h.connect(h.ours, "platform");
  expect_work(client);
  auto& engine = *std::get<0>(client);
  // What is under way when the engine goes is answered all the same.
  h.engine->local->hold_when([](const prepared_run&) { return true; });
  auto last = engine.submit(some_message());
  BOOST_REQUIRE(h.engine->local->wait_for_held(1) == 1u);
  h.engine->local->release_all();
  BOOST_TEST(last.get().index() == 0u);
  auto lost = engine.submit(some_message());
  BOOST_REQUIRE(h.engine->local->wait_for_held(1) == 1u);
  h.engine->host->stop();
  BOOST_TEST(lost.get().index() < 2u); // an answer or a failure, no silence
  // Until the link is known to be gone, and ever after.
  for (std::string code; code != "unavailable";) {
    auto late = engine.submit(some_message());
    BOOST_REQUIRE(
      (late.wait_for(std::chrono::seconds{60}) == std::future_status::ready));
    auto reply = late.get();
    BOOST_REQUIRE(reply.index() == 1u);
    code = std::get<1>(reply).code;
  }
}

BOOST_AUTO_TEST_CASE(stay_shut_for_everybody_else) {
  house h;
  test_authority theirs{h.folder.path(), "theirs"};
  BOOST_TEST(h.connect(theirs, "stranger").index() == 1u);
  BOOST_TEST(h.connect(h.ours, "yesterday", "127.0.0.1", -60).index() == 1u);
  // A name that does not stand in the engine's certificate.
  BOOST_TEST(h.connect(h.ours, "misled", "127.0.0.2").index() == 1u);
  // Without TLS at all.
  BOOST_TEST(
    api::connect("127.0.0.1", h.port(), std::chrono::seconds{3}).index() == 1u);
  auto client = h.connect(h.ours, "platform");
  expect_work(client);
}

BOOST_AUTO_TEST_CASE(say_what_is_wrong_with_a_certificate) {
  house h;
  test_authority theirs{h.folder.path(), "theirs"};
  auto says = [](const api::opened& o, std::string_view what) {
    const auto told = code_of(o);
    BOOST_TEST(told.find(what) != std::string::npos, told);
  };
  says(h.connect(h.ours, "misled", "127.1"),
       "the certificate is for localhost, 127.0.0.1, not for 127.1");
  says(h.connect(theirs, "stranger"),
       "the other side rejected the certificate");
  const auto own = h.ours.sign("wary", "DNS:wary");
  says(api::connect("127.0.0.1", h.port(),
                    {own.certificate, own.key, theirs.file()}),
       "not signed by the trusted CA");
}

BOOST_AUTO_TEST_CASE(are_not_blocked_by_silence_nor_by_garbage) {
  house h;
  asio::io_context io;
  std::vector<asio::ip::tcp::socket> silent;
  for (int i = 0; i < 6; ++i) { // more than there are places for friends
    silent.emplace_back(io);
    silent.back().connect({asio::ip::address_v4::loopback(), h.port()});
  }
  boost::system::error_code failed;
  asio::write(silent[0], asio::buffer(std::string(10'000, 'x')), failed);
  auto client = h.connect(h.ours, "platform");
  expect_work(client);
  // All of them are shown the door in the end.
  for (auto& s : silent) {
    std::array<char, 64> some{};
    asio::read(s, asio::buffer(some), failed);
    BOOST_TEST(failed.failed());
  }
}

BOOST_AUTO_TEST_CASE(lead_to_the_next_gate_when_the_first_one_has_died) {
  house h;
  auto gate = [&] { return context_of(*h.engine->host)->routes.load()->gate; };
  const auto old = gate();
  auto first = h.connect(h.ours, "platform");
  expect_work(first);
  caf::anon_send_exit(old, caf::exit_reason::kill);
  for (auto now = old; !now || now == old; now = gate())
    std::this_thread::yield();
  auto second = h.connect(h.ours, "again");
  expect_work(second);
}

BOOST_AUTO_TEST_CASE(bound_what_is_pending_as_all_ways_in_do) {
  house h{2};
  h.engine->local->hold_when([](const prepared_run&) { return true; });
  auto client = h.connect(h.ours, "platform");
  BOOST_REQUIRE_MESSAGE(client.index() == 0, code_of(client));
  auto& engine = *std::get<0>(client);
  auto one = engine.submit(some_message());
  auto two = engine.submit(some_message());
  BOOST_REQUIRE(h.engine->local->wait_for_held(2) == 2u);
  auto three = engine.submit(some_message()).get();
  BOOST_REQUIRE(three.index() == 1u);
  BOOST_TEST(std::get<1>(three).code == "exhausted");
  run_answer_box local;
  h.engine->engine().submit(someone(), source_run(), local.handle(), {});
  BOOST_TEST(!local.get().has_value());
  h.engine->local->hold_when({});
  h.engine->local->release_all();
  BOOST_TEST(one.get().index() == 0u);
  BOOST_TEST(two.get().index() == 0u);
  expect_work(client); // the places are free again
}

// P16
BOOST_AUTO_TEST_CASE(do_not_open_without_all_of_an_identity) {
  tests::temporary_directory folder;
  test_authority ours{folder.path(), "ours"};
  auto own = ours.sign("engine", "DNS:localhost");
  for (const link_identity& who :
       {link_identity{own.certificate, own.key, ""},
        link_identity{own.certificate, "", ours.file()},
        link_identity{"", own.key, ours.file()},
        link_identity{own.certificate, ours.file(), ours.file()}}) {
    engine_options options;
    options.links = link_options{"127.0.0.1:0", who, 4};
    BOOST_TEST(!open_engine(std::move(options)));
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(frame_guards)

BOOST_AUTO_TEST_CASE(read_along_in_pieces_and_drop_what_is_too_large) {
  std::vector<unsigned char> small(32 + 5, 1);
  small[4] = small[5] = small[6] = 0;
  small[7] = 5;
  for (std::size_t step : {1u, 7u, 37u}) {
    basp_frame_limit guard{5};
    for (int frames = 0; frames < 3; ++frames)
      for (std::size_t at = 0; at < small.size(); at += step)
        BOOST_TEST(
          guard.feed(small.data() + at, std::min(step, small.size() - at)));
  }
  auto large = small;
  large[4] = 0xff;
  BOOST_TEST(
    !basp_frame_limit{largest_answer_frame}.feed(large.data(), large.size()));
  auto strange = small;
  strange[0] = 7;
  BOOST_TEST(!basp_frame_limit{5}.feed(strange.data(), strange.size()));
}

BOOST_AUTO_TEST_SUITE_END()
