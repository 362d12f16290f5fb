#include "tests/actors/dispatch/two_backends.hpp"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <future>
#include <map>
#include <vector>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(dispatch_suite)

namespace {

using mode = scripted_backend::mode;

const std::string other_org = "org-11111111-1111-4111-8111-111111111111";

} // namespace

// -- admission ----------------------------------------------------------------

// P17
BOOST_AUTO_TEST_CASE(waits_in_a_bounded_queue_and_refuses_beyond_it) {
  engine_options options;
  options.admission.running = 1;
  options.admission.waiting = 2;
  engine_fixture f{mode::hold, options};
  std::atomic<int> fine{0}, refused{0};
  std::promise<void> all_refused, all_done;
  for (int i = 0; i < 20; ++i)
    f.engine().submit(someone(), source_run(),
                      [&](result<std::shared_ptr<const run_result>> r) {
                        if (r && ++fine == 3)
                          all_done.set_value();
                        if (!r && r.error().code == ec::exhausted
                            && r.error().retry_after.count() > 0
                            && ++refused == 17)
                          all_refused.set_value();
                      },
                      {});
  BOOST_REQUIRE((all_refused.get_future().wait_for(std::chrono::seconds{20})
                 == std::future_status::ready));
  for (int i = 0; i < 3; ++i) {
    BOOST_REQUIRE(f.local->wait_for_held(1) == 1u);
    f.local->release_all();
  }
  BOOST_TEST((all_done.get_future().wait_for(std::chrono::seconds{20})
              == std::future_status::ready));
  BOOST_TEST(refused == 17);
}

BOOST_AUTO_TEST_CASE(shares_fairly_between_organizations) {
  engine_options options;
  options.threads = 1;
  options.admission.running = 1;
  engine_fixture f{mode::hold, options};
  std::vector<run_answer_box> crowd(50);
  for (auto& box : crowd)
    f.engine().submit(someone(), source_run(), box.handle(), {});
  run_answer_box lonely;
  f.engine().submit(someone(other_org), source_run(), lonely.handle(), {});
  int before = 0;
  while (!lonely.is_there()) {
    BOOST_REQUIRE(f.local->wait_for_held(1) == 1u);
    auto ids = f.local->held_ids();
    auto run = f.local->held_run(ids.front());
    const bool was_lonely = run->organization.str() == other_org;
    f.local->release(ids.front());
    if (was_lonely)
      break;
    ++before;
  }
  BOOST_TEST(before <= 3);
  BOOST_TEST(lonely.get().has_value());
  for (std::size_t done = static_cast<std::size_t>(before); done < crowd.size();
       ++done) {
    BOOST_REQUIRE(f.local->wait_for_held(1) == 1u);
    f.local->release_all();
  }
  for (auto& box : crowd)
    BOOST_TEST(box.get().has_value());
}

// P17
BOOST_AUTO_TEST_CASE(makes_room_for_one_beside_a_flood_of_ten_thousand) {
  constexpr std::size_t slots = 4, flood = 10'000;
  engine_options options;
  options.drain_timeout = std::chrono::milliseconds{1};
  options.admission.running = slots;
  options.admission.waiting = 2 * flood;
  options.admission.waiting_per_organization = 2 * flood;
  engine_fixture f{mode::hold, options};
  std::atomic<std::size_t> answers{0};
  std::atomic<std::size_t> waiting{0};
  auto wait_in_line = [&](const run_event& e) {
    if (e.kind == run_event_kind::queued && ++waiting == flood - slots)
      waiting.notify_all();
    return true;
  };
  for (std::size_t i = 0; i < flood; ++i)
    f.engine().submit(
      someone(), source_run(), [&](auto) { ++answers; }, wait_in_line);
  BOOST_REQUIRE(f.local->wait_for_held(slots) == slots);
  for (auto n = waiting.load(); n < flood - slots; n = waiting.load())
    waiting.wait(n);
  run_answer_box lonely;
  std::promise<void> in_line;
  f.engine().submit(someone(other_org), source_run(), lonely.handle(),
                    [&](const run_event& e) {
                      if (e.kind == run_event_kind::queued)
                        in_line.set_value();
                      return true;
                    });
  in_line.get_future().wait();
  // Whoever frees a slot now makes room for it, at the latest the second.
  auto its_turn = [&] {
    for (const auto& id : f.local->held_ids())
      if (auto run = f.local->held_run(id))
        if (run->organization.str() == other_org)
          return f.local->release(id);
    return false;
  };
  int ends = 0;
  while (!its_turn()) {
    BOOST_REQUIRE(++ends <= 2);
    f.local->release(f.local->held_ids().front());
    BOOST_REQUIRE(f.local->wait_for_held(slots) == slots);
  }
  BOOST_TEST(lonely.get().has_value());
  f.host->stop();
  BOOST_TEST(answers == flood);
}

BOOST_AUTO_TEST_CASE(cancels_a_run_that_waits) {
  engine_options options;
  options.admission.running = 1;
  engine_fixture f{mode::hold, options};
  run_answer_box first, second;
  f.engine().submit(someone(), source_run(), first.handle(), {});
  BOOST_REQUIRE(f.local->wait_for_held(1) == 1u);
  auto request = source_run();
  request.id = run_id::make();
  f.engine().submit(someone(), request, second.handle(), {});
  answer<run_record> cancelled;
  f.engine().cancel(someone(), request.id, cancelled.handle());
  auto r = second.get();
  BOOST_REQUIRE(r.has_value());
  BOOST_TEST(((*r)->reason == exit_reason::cancelled));
  f.local->release_all();
  BOOST_TEST(first.get().has_value());
  BOOST_TEST(f.local->started() == 1);
}

BOOST_AUTO_TEST_CASE(refuses_bad_arguments_before_anything_runs) {
  engine_fixture f;
  auto request = source_run(R"({"b":1})");
  request.args_json_schema
    = R"({"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]})";
  auto r = f.run(request);
  BOOST_REQUIRE(!r.has_value());
  BOOST_TEST((r.error().code == ec::invalid_request));
  BOOST_TEST(!r.error().fields.empty());
  BOOST_TEST(f.local->started() == 0);
}

BOOST_AUTO_TEST_CASE(binds_large_arguments_off_the_dispatcher) {
  engine_fixture f;
  auto big = R"({"text":")" + std::string(1u << 20, 'x') + "\"}";
  auto r = f.run(source_run(big));
  BOOST_REQUIRE_MESSAGE(r.has_value(), why(r));
  BOOST_TEST((*r)->value_json.size() == big.size());
}

// -- explanations and the record ----------------------------------------------

BOOST_AUTO_TEST_CASE(explains_a_run_without_running_it) {
  two_backends f;
  auto request = source_run();
  request.env["API_KEY"] = secret{"hush"};
  answer<explanation> box;
  f.engine().explain(someone(), request, box.handle());
  auto told = f.now(box);
  BOOST_REQUIRE(told.has_value());
  BOOST_TEST(
    (told->candidates
     == std::vector<backend_name>{backend_kind::e2b, backend_kind::local}));
  std::map<std::string, std::string> origins{told->variables.begin(),
                                             told->variables.end()};
  BOOST_TEST(origins.at("API_KEY") == "run");
  BOOST_TEST(f.e2b->started() + f.local->started() == 0);
}

// P19
BOOST_AUTO_TEST_CASE(leaves_one_audit_line_per_run_without_its_secrets) {
  engine_fixture f;
  auto request = source_run(R"({"password":"hunter2"})");
  request.env["API_KEY"] = secret{"hush"};
  BOOST_REQUIRE(f.run(request).has_value());
  answer<page<audit_entry>> box;
  f.engine().list_audit(someone(), 0, 10, box.handle());
  auto lines = box.get();
  BOOST_REQUIRE(lines.has_value());
  BOOST_REQUIRE(lines->items.size() == 1u);
  auto text = json::to_text(lines->items[0].what);
  BOOST_TEST(text.find("hush") == std::string::npos);
  BOOST_TEST(text.find("hunter2") == std::string::npos);
  BOOST_TEST(text.find("\"status\":\"success\"") != std::string::npos);
  BOOST_TEST(text.find("source_sha256") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(leaves_no_record_of_what_was_never_let_in) {
  engine_fixture f;
  auto request = source_run();
  request.id = run_id::make();
  request.source.clear();
  BOOST_REQUIRE(!f.run(request).has_value());
  answer<page<run_record>> runs;
  f.engine().list_runs(someone(), "", 10, runs.handle());
  BOOST_TEST(runs.get()->items.empty());
  answer<page<audit_entry>> lines;
  f.engine().list_audit(someone(), 0, 10, lines.handle());
  BOOST_TEST(lines.get()->items.empty());
  answer<run_record> found;
  f.engine().find_run(someone(), request.id, found.handle());
  BOOST_TEST(!found.get().has_value());
  BOOST_TEST(f.engine().metrics().find("troupe_runs_invalid_total 1")
             != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
