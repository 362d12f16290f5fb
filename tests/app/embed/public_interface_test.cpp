// The public face: what a message may say, what an answer tells, and the actors
// behind it.
#include "include/troupe/actors.hpp"
#include "tests/support/engine/engine_fixture.hpp"

#include <atomic>
#include <mutex>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(faces)

namespace {

constexpr std::chrono::seconds soon{60};

/// Carries nothing out: keeps each run until it is told to end it.
struct keeping_carrier {
  std::mutex mutex;
  std::vector<std::pair<api::message, std::function<void(api::answer)>>> kept;
  std::promise<void> first;

  api::embedded_options options() {
    api::embedded_options o;
    o.drain_timeout = std::chrono::milliseconds{0};
    o.backend
      = [this](const api::message& m, std::function<void(api::answer)> done) {
          std::lock_guard guard{mutex};
          kept.emplace_back(m, std::move(done));
          if (kept.size() == 1)
            first.set_value();
        };
    o.cancel_run = [this](std::string_view run) { end(run); };
    return o;
  }
  void wait_for_first() {
    BOOST_REQUIRE(
      (first.get_future().wait_for(soon) == std::future_status::ready));
  }
  void end(std::string_view run) {
    std::lock_guard guard{mutex};
    for (auto& [m, done] : kept)
      if (m.id == run && done) {
        api::answer a;
        a.reason = "cancelled";
        a.stdout_text = "so far";
        std::exchange(done, nullptr)(std::move(a));
      }
  }
};

std::unique_ptr<api::engine> open(api::embedded_options options) {
  auto opened = api::open_embedded(std::move(options));
  BOOST_REQUIRE(opened.index() == 0u);
  return std::move(std::get<0>(opened));
}

api::embedded_options echoing() {
  api::embedded_options o;
  o.backend = [](const api::message& m, std::function<void(api::answer)> done) {
    api::answer a;
    a.succeeded = true;
    a.reason = "exited";
    a.value = m.arguments;
    a.stdout_text = m.standard_input;
    done(std::move(a));
  };
  return o;
}

api::message some_message() {
  api::message m;
  m.source = "def f(**x): return x";
  m.function = "f";
  m.arguments = R"({"x":1})";
  return m;
}

} // namespace

BOOST_AUTO_TEST_CASE(ends_a_run_at_its_carrier) {
  keeping_carrier carrier;
  auto engine = open(carrier.options());
  std::promise<api::reply> replied;
  auto id = engine->submit(
    some_message(), [&](api::reply r) { replied.set_value(std::move(r)); });
  carrier.wait_for_first();
  engine->cancel(id);
  auto reply = replied.get_future().get();
  auto* answer = std::get_if<api::answer>(&reply);
  BOOST_REQUIRE(answer);
  BOOST_TEST(answer->id == id);
  BOOST_TEST(answer->reason == "cancelled");
  BOOST_TEST(answer->stdout_text == "so far");
}

BOOST_AUTO_TEST_CASE(starts_a_run_and_finds_it_again) {
  auto engine = open(echoing());
  auto m = some_message();
  m.id = run_id::make().str();
  std::promise<std::variant<api::record, api::failure>> accepted;
  auto id = engine->start(m, [&](auto r) { accepted.set_value(std::move(r)); });
  BOOST_TEST(id == m.id);
  auto first = accepted.get_future().get();
  BOOST_REQUIRE(first.index() == 0u);
  BOOST_TEST(std::get<0>(first).id == id);
  for (;;) { // until it has ended
    std::promise<std::variant<api::record, api::failure>> found;
    engine->find(id, {}, [&](auto r) { found.set_value(std::move(r)); });
    auto record = found.get_future().get();
    BOOST_REQUIRE(record.index() == 0u);
    if (!std::get<0>(record).end)
      continue;
    BOOST_TEST(std::get<0>(record).phase == "ended");
    BOOST_TEST(std::get<api::answer>(*std::get<0>(record).end).value
               == R"({"x":1})");
    break;
  }
}

BOOST_AUTO_TEST_CASE(tells_what_happens_before_it_replies) {
  auto engine = open(echoing());
  std::vector<std::string> kinds; // written before the reply, read after it
  std::promise<api::reply> replied;
  engine->submit(
    some_message(), [&](api::reply r) { replied.set_value(std::move(r)); },
    [&](const api::event& e) { kinds.push_back(e.kind); });
  auto reply = replied.get_future().get();
  BOOST_REQUIRE(reply.index() == 0u);
  BOOST_TEST((std::find(kinds.begin(), kinds.end(), "started") != kinds.end()));
  const auto& answer = std::get<0>(reply);
  BOOST_TEST(!answer.stages.empty());
  BOOST_TEST(!answer.isolation.empty());
}

BOOST_AUTO_TEST_CASE(refuses_words_that_it_does_not_know) {
  auto engine = open(echoing());
  for (auto spoil : {+[](api::message& m) { m.id = "run"; },
                     +[](api::message& m) { m.network = "wide"; },
                     +[](api::message& m) { m.isolation = "none at all"; },
                     +[](api::message& m) { m.config = "c"; },
                     +[](api::message& m) { m.pip = {"==1"}; }}) {
    auto m = some_message();
    spoil(m);
    auto reply = engine->submit(std::move(m)).get();
    BOOST_REQUIRE(reply.index() == 1u);
    BOOST_TEST(std::get<1>(reply).code == "invalid_request");
  }
}

BOOST_AUTO_TEST_CASE(has_a_typed_actor_for_those_who_speak_caf) {
  auto engine = open(echoing());
  auto handle = api::actors_of(*engine);
  BOOST_REQUIRE(handle.system);
  auto what = api::execution_from(some_message());
  BOOST_REQUIRE(what.has_value());
  caf::scoped_actor self{*handle.system};
  self->request(handle.gateway, soon, run_v, std::move(*what))
    .receive(
      [](run_answer& a) {
        auto reply = api::reply_from(a);
        BOOST_REQUIRE(reply.index() == 0u);
        BOOST_TEST(std::get<0>(reply).value == R"({"x":1})");
      },
      [](const caf::error& e) {
        BOOST_TEST(std::get<1>(api::reply_from(e)).text == "");
      });
}

BOOST_AUTO_TEST_SUITE_END()
