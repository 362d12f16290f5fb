// Other nodes as a backend, over mutual TLS.
#include "actors/protocol/wire_json.hpp"
#include "tests/actors/troop.hpp"
#include "tests/support/engine/sample_fields.hpp"
#include "tests/support/engine/waiting_observer.hpp"

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(peers_suite)

namespace {

using mode = scripted_backend::mode;

} // namespace

BOOST_AUTO_TEST_CASE(send_what_a_node_can_read) {
  prepared_run run;
  run.id = run_id::make();
  run.organization = default_organization();
  run.name = run.function = "f";
  run.source = "def f(): return 1";
  run.env.emplace("TROUPE_TOOL_ID", secret{tool_id::make().str()});
  run.deadline = std::chrono::steady_clock::now() + std::chrono::minutes{13};
  for (auto kind : {run_kind::source, run_kind::code, run_kind::command}) {
    run.kind = kind;
    if (kind == run_kind::command) {
      run.source.clear();
      run.function.clear();
      run.command = "true";
    }
    auto sent = std::make_shared<const run_request>(request_for_peer(run));
    auto read = request_from_text(to_text(sent));
    BOOST_REQUIRE_MESSAGE(read.has_value(), why(read));
    BOOST_TEST(((*read)->tool == sent->tool));
    BOOST_TEST(((*read)->backend == backend_kind::local));
  }
}

BOOST_AUTO_TEST_CASE(are_told_every_field_of_a_run) {
  for_each_row(run_fields, [](const auto& f) {
    if constexpr (member_of<decltype(f.of), prepared_run>) {
      // The node has configs of its own, and knows its agents by variables.
      if (f.name == "sandbox_config_id" || f.name == "agent_id")
        return;
      auto said = request_with(f);
      auto sent = std::make_shared<const run_request>(
        request_for_peer(prepared_with(f, said)));
      auto read = request_from_text(to_text(sent));
      BOOST_REQUIRE_MESSAGE(read.has_value(), why(read));
      run_request plain;
      plain.kind = f.name == "kind" ? run_kind::tool : said.kind;
      BOOST_TEST((f.of(**read) == f.of(plain)) == false, f.name);
    }
  });
}

BOOST_AUTO_TEST_CASE(carry_a_run_to_another_node_with_all_it_needs) {
  troop t;
  t.add_worker("worker", mode::answer);
  prepared_run seen;
  t.workers[0]->local->set_script(
    [&](const prepared_run& run, run_observer& o) {
      seen = run;
      o.started();
      o.output(output_stream::out, "hello");
      auto r = scripted_backend::answer_for(run);
      r.stdout_text = "hello";
      return run_outcome{std::move(r), true};
    });
  t.open_and_meet_all();
  auto request = for_peers(R"({"x":1})");
  request.id = run_id::make();
  request.env.emplace("TOKEN", secret{"s3cret"});
  request.limits.memory_bytes = 64u << 20;
  request.agent_id = "agent-7";
  auto r = t.front->run(request);
  BOOST_REQUIRE_MESSAGE(r.has_value(), why(r));
  BOOST_TEST((*r)->value_json == R"({"x":1})");
  BOOST_TEST((*r)->stdout_text == "hello");
  BOOST_TEST(((*r)->id == request.id));
  BOOST_TEST(((*r)->backend == backend_kind::peer));
  BOOST_TEST(t.front->local->started() == 0);
  BOOST_TEST((seen.id == request.id));
  BOOST_TEST(seen.env.at("TOKEN").reveal() == "s3cret");
  BOOST_TEST(seen.env.at("LETTA_AGENT_ID").reveal() == "agent-7");
  BOOST_TEST(seen.limits.memory_bytes == 64u << 20);
}

BOOST_AUTO_TEST_CASE(are_told_about_a_run_that_a_node_cannot_read) {
  troop t;
  t.runs_per_node = 1; // one that is never answered would keep the place
  t.add_worker("worker", mode::answer);
  t.open_and_meet_all();
  for (int i = 0; i < 2; ++i) {
    auto run = std::make_shared<prepared_run>();
    run->id = run_id::make();
    run->organization = default_organization();
    run->source = "def f(): return 1";
    run->args_json = "{";
    run->deadline = std::chrono::steady_clock::now() + soon;
    auto told = std::make_shared<waiting_observer>();
    t.others->start(run, told);
    auto outcome = told->wait();
    BOOST_REQUIRE(!outcome.answer.has_value());
    BOOST_TEST((outcome.answer.error().code == ec::invalid_request));
    BOOST_TEST(!outcome.may_have_started);
  }
}

BOOST_AUTO_TEST_CASE(share_runs_by_what_each_node_has_under_way) {
  troop t;
  t.add_worker("one", mode::hold);
  t.add_worker("two", mode::hold);
  t.open_and_meet_all();
  constexpr std::size_t count = 10;
  std::vector<run_answer_box> boxes(2 * count);
  for (auto& box : boxes)
    t.front->engine().submit(someone(), for_peers(), box.handle(), {});
  for (auto& w : t.workers) {
    BOOST_TEST(w->local->wait_for_held(count) == count);
    w->local->release_all();
  }
  for (auto& box : boxes)
    BOOST_REQUIRE(box.get().has_value());
}

BOOST_AUTO_TEST_CASE(give_a_run_to_the_next_backend_when_a_node_refuses_it) {
  troop t;
  engine_options small;
  small.admission.running = 1;
  small.admission.waiting = 0;
  t.add_worker("small", mode::hold, std::move(small));
  t.open_and_meet_all();
  run_answer_box first;
  t.front->engine().submit(someone(), for_peers(), first.handle(), {});
  BOOST_REQUIRE(t.workers[0]->local->wait_for_held(1) == 1u);
  auto second = t.front->run(source_run());
  BOOST_REQUIRE_MESSAGE(second.has_value(), why(second));
  BOOST_TEST(((*second)->backend == backend_kind::local));
  BOOST_REQUIRE((*second)->trail.size() == 1u);
  BOOST_TEST(((*second)->trail[0].backend == backend_kind::peer));
  t.workers[0]->local->release_all();
  BOOST_TEST(first.get().has_value());
}

// P16
BOOST_AUTO_TEST_CASE(say_that_a_run_is_lost_with_its_node_and_go_on) {
  troop t;
  t.add_worker("mortal", mode::hold);
  t.add_worker("other", mode::answer);
  t.open_front();
  BOOST_REQUIRE(t.others->wait_until_reached(2, soon));
  // Both are idle: the first one gets it.
  run_answer_box box;
  t.front->engine().submit(someone(), for_peers(), box.handle(), {});
  BOOST_REQUIRE(t.workers[0]->local->wait_for_held(1) == 1u);
  t.workers[0]->host->stop();
  auto r = box.get();
  BOOST_REQUIRE_MESSAGE(r.has_value(), why(r));
  BOOST_TEST(((*r)->reason == exit_reason::lost));
  auto next = t.front->run(for_peers());
  while (!next.has_value()) // until the link is known to be gone
    next = t.front->run(for_peers());
  BOOST_TEST(((*next)->status == run_status::success));
  BOOST_TEST(t.workers[1]->local->started() > 0);
}

BOOST_AUTO_TEST_CASE(end_a_run_there_that_is_cancelled_here) {
  troop t;
  t.add_worker("worker", mode::hold);
  t.open_and_meet_all();
  auto request = for_peers();
  request.id = run_id::make();
  run_answer_box box;
  t.front->engine().submit(someone(), request, box.handle(), {});
  BOOST_REQUIRE(t.workers[0]->local->wait_for_held(1) == 1u);
  answer<run_record> told;
  t.front->engine().cancel(someone(), request.id, told.handle());
  BOOST_REQUIRE(told.get().has_value());
  auto r = box.get();
  BOOST_REQUIRE_MESSAGE(r.has_value(), why(r));
  BOOST_TEST(((*r)->reason == exit_reason::cancelled));
}

BOOST_AUTO_TEST_CASE(do_not_count_strangers_nor_this_node_itself) {
  troop t;
  t.add_worker("twin", mode::answer);
  t.open_front("twin");
  test_authority theirs{t.folder.path(), "theirs"};
  auto foreign = theirs.sign("spy", "DNS:localhost,IP:127.0.0.1");
  peer_options o;
  o.identity = {foreign.certificate, foreign.key, t.ours.file()};
  o.seeds
    = {"127.0.0.1:" + std::to_string(t.workers[0]->host->published_port())};
  auto strangers = peer_backend::open(std::move(o));
  BOOST_REQUIRE(strangers.has_value());
  auto refused = [](const peer_backend& p) {
    for (;;) { // the first try may still be going on
      auto ready = p.ready();
      if (ready)
        return false;
      if (ready.error().text.find("not connected yet") == std::string::npos)
        return true;
      std::this_thread::yield();
    }
  };
  BOOST_TEST(refused(*t.others));
  BOOST_TEST(refused(**strangers));
  BOOST_TEST((*strangers)->reached() == 0u);
  auto r = t.front->run(for_peers());
  BOOST_REQUIRE(!r.has_value());
  BOOST_TEST((r.error().code == ec::unavailable));
}

BOOST_AUTO_TEST_CASE(need_a_host_and_a_port_each) {
  for (auto seed : {"nowhere", ":1", "host:", "host:0", "host:70000", "h:1x"}) {
    peer_options o;
    o.seeds = {seed};
    auto met = peer_backend::open(std::move(o));
    BOOST_REQUIRE(!met.has_value());
    BOOST_TEST((met.error().code == ec::invalid_request));
  }
}

BOOST_AUTO_TEST_SUITE_END()
