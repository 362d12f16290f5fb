#include "storage/database/key_codec.hpp"
#include "storage/records/run_store.hpp"
#include "tests/storage/catalog_fixture.hpp"

using namespace troupe;
using namespace troupe::tests;

namespace {

run_record make_run(const author& who, std::int64_t second,
                    run_phase phase = run_phase::ended) {
  run_record r;
  r.id = run_id::make();
  r.organization = who.organization;
  r.phase = phase;
  r.tool_name = "search";
  r.created_at = at(second);
  return r;
}

std::vector<run_record> all_of(const run_store& runs, const author& who,
                               std::size_t limit) {
  std::vector<run_record> all;
  std::string after;
  do {
    auto some = must(runs.list(who.organization, after, limit));
    BOOST_REQUIRE(some.items.size() <= limit);
    all.insert(all.end(), some.items.begin(), some.items.end());
    after = some.next;
  } while (!after.empty());
  return all;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(run_store_suite, store_fixture)

BOOST_AUTO_TEST_CASE(gives_back_a_record_whole) {
  auto r = make_run(alice, 1);
  r.agent_id = "agent-1";
  r.backend = backend_kind::e2b;
  r.labels = {{"team", "blue"}};
  r.ended_at = at(2);
  run_result outcome;
  outcome.id = r.id;
  outcome.status = run_status::success;
  outcome.reason = exit_reason::exited;
  outcome.value_json = R"({"answer":42})";
  outcome.stdout_text = "hello\n";
  outcome.usage.cpu = std::chrono::microseconds{123};
  r.result = std::make_shared<const run_result>(outcome);
  must(kept.runs->put(r));
  reopen();
  auto found = must(kept.runs->find(alice.organization, r.id));
  BOOST_TEST(found.id.str() == r.id.str());
  BOOST_TEST((found.phase == run_phase::ended));
  BOOST_TEST((found.backend == backend_kind::e2b));
  BOOST_TEST((found.labels == r.labels));
  BOOST_TEST((found.created_at == r.created_at));
  BOOST_TEST((found.ended_at == r.ended_at));
  BOOST_REQUIRE(found.result);
  BOOST_TEST(found.result->value_json == R"({"answer":42})");
  BOOST_TEST(found.result->stdout_text == "hello\n");
  BOOST_TEST(found.result->usage.cpu.count() == 123);
  BOOST_TEST(encode_run(found) == encode_run(r));
}

BOOST_AUTO_TEST_CASE(keeps_what_was_asked_for_until_the_record_is_too_large) {
  auto r = make_run(alice, 1);
  r.request = std::make_shared<const secret>(R"({"env":{"TOKEN":"hush"}})");
  must(kept.runs->put(r));
  reopen();
  auto found = must(kept.runs->find(alice.organization, r.id));
  BOOST_TEST_REQUIRE(found.request);
  BOOST_TEST(found.request->reveal() == r.request->reveal());
  // Its end is written over its beginning.
  found.phase = run_phase::ended;
  must(kept.runs->put(found));
  BOOST_TEST(!!must(kept.runs->find(alice.organization, r.id)).request);

  run_result outcome;
  outcome.id = r.id;
  outcome.stdout_text = std::string(2u << 20, 'o');
  found.result = std::make_shared<const run_result>(outcome);
  must(kept.runs->put(found));
  BOOST_TEST(!must(kept.runs->find(alice.organization, r.id)).request);
}

BOOST_AUTO_TEST_CASE(counts_a_run_once_whether_it_is_new_or_not) {
  auto running = make_run(alice, 1, run_phase::running);
  const run_write begun{&running, true};
  must(kept.runs->put({&begun, 1}, durability::buffered));
  BOOST_TEST(kept.runs->count(alice.organization) == 1u);
  auto ended = running;
  ended.phase = run_phase::ended;
  const run_write end{&ended, false};
  must(kept.runs->put({&end, 1}, durability::buffered));
  BOOST_TEST(kept.runs->count(alice.organization) == 1u);
  reopen();
  BOOST_TEST(kept.runs->count(alice.organization) == 1u);
}

BOOST_AUTO_TEST_CASE(gives_back_why_a_run_failed) {
  auto r = make_run(alice, 1);
  auto failure = bad_field("/args", "is wrong", "be right");
  failure.retry_after = std::chrono::milliseconds{5};
  r.failure = std::make_shared<const error>(failure);
  must(kept.runs->put(r));
  auto found = must(kept.runs->find(alice.organization, r.id));
  BOOST_REQUIRE(found.failure);
  BOOST_TEST((found.failure->code == ec::invalid_request));
  BOOST_TEST(found.failure->text == failure.text);
  BOOST_TEST(found.failure->fields.at(0).hint == "be right");
  BOOST_TEST(found.failure->retry_after.count() == 5);
}

BOOST_AUTO_TEST_CASE(lists_the_newest_first_whatever_the_order_of_writing) {
  std::vector<run_record> some;
  for (auto second : {5, 1, 9, 3, 7})
    some.push_back(make_run(alice, second));
  must(kept.runs->put(some));
  must(kept.runs->put(make_run(bob, 100)));
  for (std::size_t limit : {1, 2, 5, 50}) {
    auto all = all_of(*kept.runs, alice, limit);
    BOOST_REQUIRE(all.size() == 5u);
    for (std::size_t i = 0; i + 1 < all.size(); ++i)
      BOOST_TEST((all[i].created_at > all[i + 1].created_at));
  }
  BOOST_TEST((code_of(kept.runs->list(alice.organization, "garbage", 5))
              == ec::invalid_request));
  BOOST_TEST(
    (code_of(kept.runs->find(bob.organization, some[0].id)) == ec::not_found));
}

BOOST_AUTO_TEST_CASE(finds_what_has_not_ended_after_a_crash) {
  auto running = make_run(alice, 1, run_phase::running);
  auto queued = make_run(bob, 2, run_phase::queued);
  auto ended = make_run(alice, 3, run_phase::running);
  must(kept.runs->put({running, queued, ended}));
  ended.phase = run_phase::ended;
  must(kept.runs->put(ended));
  reopen();
  auto left = must(kept.runs->unfinished());
  BOOST_REQUIRE(left.size() == 2u);
  for (auto& r : left) {
    r.phase = run_phase::ended;
    run_result lost;
    lost.id = r.id;
    lost.reason = exit_reason::lost;
    r.result = std::make_shared<const run_result>(lost);
  }
  must(kept.runs->put(left));
  BOOST_TEST(must(kept.runs->unfinished()).empty());
  BOOST_TEST(kept.runs->count(alice.organization) == 2u);
}

BOOST_AUTO_TEST_CASE(keeps_a_bounded_number_and_never_drops_a_live_one) {
  close();
  options.runs.keep_runs = 5;
  open();
  auto live = make_run(alice, 0, run_phase::running);
  must(kept.runs->put(live));
  for (int i = 1; i <= 20; ++i)
    must(kept.runs->put(make_run(alice, i)));
  must(kept.runs->put(make_run(bob, 1)));
  BOOST_TEST(kept.runs->count(alice.organization) == 5u);
  auto all = all_of(*kept.runs, alice, 50);
  BOOST_REQUIRE(all.size() == 5u);
  BOOST_TEST((all.front().created_at == at(20)));
  BOOST_TEST(all.back().id.str() == live.id.str());
  BOOST_TEST(content(*kept.db, column::runs).size() == 6u);
  reopen();
  BOOST_TEST(kept.runs->count(alice.organization) == 5u);
  must(kept.runs->erase_organization(alice.organization));
  BOOST_TEST(content(*kept.db, column::runs).size() == 1u);
  BOOST_TEST(content(*kept.db, column::run_index).size() == 1u);
}

BOOST_AUTO_TEST_CASE(drops_old_ones_in_steps) {
  close();
  options.runs.keep_runs = 32;
  open();
  for (int i = 1; i <= 34; ++i)
    must(kept.runs->put(make_run(alice, i)));
  BOOST_TEST(kept.runs->count(alice.organization) == 34u);
  must(kept.runs->put(make_run(alice, 35)));
  BOOST_TEST(kept.runs->count(alice.organization) == 32u);
}

BOOST_AUTO_TEST_CASE(keeps_a_bounded_number_of_bytes) {
  close();
  options.runs.keep_bytes = 64u << 10;
  options.runs.record_bytes = 48u << 10;
  open();
  for (int i = 1; i <= 10; ++i) {
    auto r = make_run(alice, i);
    run_result outcome;
    outcome.id = r.id;
    outcome.stdout_text = std::string(100u << 10, 'x') + "the end";
    outcome.value_json = "\"" + std::string(i % 2 ? 10 : 100'000, 'y') + "\"";
    r.result = std::make_shared<const run_result>(outcome);
    must(kept.runs->put(r));
  }
  std::size_t bytes = 0;
  for (const auto& [key, value] : content(*kept.db, column::runs))
    bytes += value.size();
  BOOST_TEST(bytes <= options.runs.keep_bytes);
  auto all = all_of(*kept.runs, alice, 50);
  BOOST_REQUIRE(!all.empty());
  for (const auto& r : all) {
    BOOST_TEST(r.result->stdout_truncated);
    BOOST_TEST(r.result->stdout_text.ends_with("the end"));
  }
  BOOST_TEST(all[0].result->value_json == "null"); // the tenth
  BOOST_TEST(all[0].result->value_truncated);
  BOOST_TEST(all[1].result->value_json == "\"yyyyyyyyyy\"");
}

BOOST_AUTO_TEST_CASE(refuses_a_record_at_another_ones_place) {
  auto r = make_run(alice, 1);
  must(kept.runs->put(r));
  const auto stored = content(*kept.db, column::runs).begin()->second;
  batch b;
  b.put(column::runs, key_codec::encode(bob.organization, {r.id.str()}),
        stored);
  must(kept.db->write(b));
  BOOST_TEST(
    (code_of(kept.runs->find(bob.organization, r.id)) == ec::internal));
}

BOOST_AUTO_TEST_SUITE_END()
