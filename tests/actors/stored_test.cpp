#include "actors/stored.hpp"
#include "tests/support/engine_fixture.hpp"
#include "tests/support/temporary_directory.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;
using troupe::tests::temporary_directory;

BOOST_AUTO_TEST_SUITE(stored_suite)

namespace {

using mode = scripted_backend::mode;

/// An engine on RocksDB that can be closed and opened again.
struct stored_engine {
  temporary_directory directory;
  std::shared_ptr<scripted_backend> local;
  std::unique_ptr<engine_host> host;
  environment seen;

  explicit stored_engine(mode how = mode::answer) { open(how); }

  void open(mode how = mode::answer) {
    local = std::make_shared<scripted_backend>(backend_kind::local, how);
    local->set_script([this](const prepared_run& run, run_observer& o) {
      seen = run.env;
      o.started();
      return run_outcome{scripted_backend::answer_for(run), true};
    });
    engine_options options;
    options.threads = 2;
    options.drain_timeout = std::chrono::milliseconds{20};
    options.backends.push_back(local);
    store_options where;
    where.data_directory = directory.path();
    options.store = where;
    auto opened = open_engine(std::move(options));
    BOOST_REQUIRE_MESSAGE(opened.has_value(), why(opened));
    host = std::move(*opened);
  }
  void reopen(mode how = mode::answer) {
    host.reset();
    open(how);
  }

  result<change_reply> change(catalog_change what) {
    answer<change_reply> box;
    host->engine().change(someone(), std::move(what), box.handle());
    return box.get();
  }
  result<std::shared_ptr<const run_result>> run(run_request request) {
    run_answer_box box;
    host->engine().submit(someone(), std::move(request), box.handle(), {});
    return box.get();
  }
  result<run_record> find(const run_id& id) {
    answer<run_record> box;
    host->engine().find_run(someone(), id, box.handle());
    return box.get();
  }
};

tool adding_tool() {
  tool t;
  t.name = "add";
  t.source_code = "def add(a: int): return a";
  t.json_schema = *json::parse_object(
    R"({"name":"add","parameters":{"type":"object",
        "properties":{"a":{"type":"integer"}},"required":["a"]}})");
  return t;
}

} // namespace

BOOST_AUTO_TEST_CASE(publishes_a_change_before_it_is_answered) {
  stored_engine e;
  put_tool put;
  put.value = adding_tool();
  auto reply = e.change(put);
  BOOST_REQUIRE_MESSAGE(reply.has_value(), why(reply));
  BOOST_TEST(reply->created);
  auto picture = e.host->engine().snapshot();
  BOOST_TEST(
    picture->find(default_organization())->tools_by_name.contains("add"));
  run_request request;
  request.tool_name = "add";
  request.args_json = R"({"a":5})";
  auto r = e.run(request);
  BOOST_REQUIRE_MESSAGE(r.has_value(), why(r));
  BOOST_TEST((*r)->value_json == R"({"a":5})");
}

BOOST_AUTO_TEST_CASE(
  unseals_variables_at_the_last_moment_and_forgets_old_ones) {
  stored_engine e;
  auto config = e.change(default_config{});
  BOOST_REQUIRE_MESSAGE(config.has_value(), why(config));
  put_variable put;
  put.config = config->config->id;
  put.key = "API_KEY";
  put.value = secret{"first"};
  BOOST_REQUIRE(e.change(put).has_value());
  BOOST_REQUIRE(e.run(source_run()).has_value());
  BOOST_TEST(e.seen.at("API_KEY").reveal() == "first");
  put.value = secret{"second"};
  BOOST_REQUIRE(e.change(put).has_value());
  BOOST_REQUIRE(e.run(source_run()).has_value());
  BOOST_TEST(e.seen.at("API_KEY").reveal() == "second");

  put_agent_variables agent;
  agent.agent_id = "agent-1";
  agent.values.emplace("API_KEY", secret{"agent"});
  BOOST_REQUIRE(e.change(agent).has_value());
  auto request = source_run();
  request.agent_id = "agent-1";
  BOOST_REQUIRE(e.run(request).has_value());
  BOOST_TEST(e.seen.at("API_KEY").reveal() == "agent");
}

BOOST_AUTO_TEST_CASE(remembers_everything_after_a_restart) {
  stored_engine e;
  put_tool put;
  put.value = adding_tool();
  BOOST_REQUIRE(e.change(put).has_value());
  auto request = source_run(R"({"n":1})");
  request.id = run_id::make();
  request.idempotency_key = "once";
  BOOST_REQUIRE(e.run(request).has_value());
  e.reopen();
  BOOST_TEST(e.host->engine()
               .snapshot()
               ->find(default_organization())
               ->tools_by_name.contains("add"));
  auto record = e.find(request.id);
  BOOST_REQUIRE_MESSAGE(record.has_value(), why(record));
  BOOST_REQUIRE(record->result);
  BOOST_TEST((record->result->status == run_status::success));
  request.id = run_id::make();
  auto again = e.run(request);
  BOOST_REQUIRE_MESSAGE(again.has_value(), why(again));
  BOOST_TEST((*again)->value_json == R"({"n":1})");
  BOOST_TEST(e.local->started() == 0);
}

BOOST_AUTO_TEST_CASE(chains_the_audit_of_runs_and_changes) {
  stored_engine e;
  put_tool put;
  put.value = adding_tool();
  BOOST_REQUIRE(e.change(put).has_value());
  BOOST_REQUIRE(e.run(source_run()).has_value());
  answer<page<audit_entry>> box;
  e.host->engine().list_audit(someone(), 0, 10, box.handle());
  auto lines = box.get();
  BOOST_REQUIRE(lines.has_value());
  BOOST_TEST(lines->items.size() == 2u);
  e.host.reset();
  store_options where;
  where.data_directory = e.directory.path();
  auto store = open_store(where);
  BOOST_REQUIRE_MESSAGE(store.has_value(), why(store));
  auto verified = store->audit->verify(default_organization());
  BOOST_REQUIRE_MESSAGE(verified.has_value(), why(verified));
  BOOST_TEST(verified->last == 2u);
}

BOOST_AUTO_TEST_CASE(marks_runs_lost_that_the_last_process_did_not_end) {
  temporary_directory directory;
  store_options where;
  where.data_directory = directory.path();
  run_record open_run;
  open_run.id = run_id::make();
  open_run.organization = default_organization();
  open_run.phase = run_phase::running;
  key_claim claim{default_organization(), "once", "digest", open_run.id};
  {
    auto store = open_store(where);
    BOOST_REQUIRE_MESSAGE(store.has_value(), why(store));
    auto books
      = make_stored_journal(std::make_shared<troupe::store>(std::move(*store)));
    auto mine = books->claim(claim, open_run);
    BOOST_REQUIRE_MESSAGE(mine.has_value(), why(mine));
    BOOST_TEST((mine->what == claim_outcome::kind::mine));
  }
  auto store = open_store(where);
  BOOST_REQUIRE_MESSAGE(store.has_value(), why(store));
  auto books
    = make_stored_journal(std::make_shared<troupe::store>(std::move(*store)));
  auto lost = books->mark_lost();
  BOOST_REQUIRE_MESSAGE(lost.has_value(), why(lost));
  BOOST_TEST(*lost == 1u);
  auto record = books->find_run(default_organization(), open_run.id);
  BOOST_REQUIRE(record.has_value() && record->has_value());
  BOOST_REQUIRE((*record)->result);
  BOOST_TEST(((*record)->result->reason == exit_reason::lost));
  auto again = books->claim(claim, open_run);
  BOOST_REQUIRE_MESSAGE(again.has_value(), why(again));
  BOOST_TEST((again->what == claim_outcome::kind::ended));
  BOOST_REQUIRE(again->result);
  BOOST_TEST((again->result->reason == exit_reason::lost));
}

BOOST_AUTO_TEST_SUITE_END()
