#include "runtime/model/codec/codec.hpp"
#include "storage/adapters/configuration_store.hpp"
#include "storage/adapters/journal.hpp"
#include "tests/support/engine/engine_fixture.hpp"
#include "tests/support/engine/kept_engine.hpp"
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
  environment seen; // a run may end after the test
  std::shared_ptr<scripted_backend> local;
  std::unique_ptr<engine_host> host;

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
    BOOST_REQUIRE(keep_in(directory.path(), options).has_value());
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
  auto lines = books->list_audit(default_organization(), 0, 10);
  BOOST_REQUIRE(lines.has_value() && lines->items.size() == 1u);
  BOOST_TEST(lines->items[0].what.at("run").as_string() == open_run.id.str());
  BOOST_TEST(lines->items[0].what.at("reason").as_string() == "lost");
}

// -- the books ----------------------------------------------------------------

namespace {

struct stored_books {
  temporary_directory directory;
  std::shared_ptr<troupe::store> kept;
  std::shared_ptr<journal> books;

  explicit stored_books(std::size_t entry_bytes = 64u << 10) {
    store_options where;
    where.data_directory = directory.path();
    where.audit.entry_bytes = entry_bytes;
    auto opened = open_store(where);
    BOOST_REQUIRE_MESSAGE(opened.has_value(), why(opened));
    kept = std::make_shared<troupe::store>(std::move(*opened));
    books = make_stored_journal(kept);
  }
  std::size_t lines_of(const organization_id& who) {
    return books->list_audit(who, 0, 10)->items.size();
  }
};

const organization_id another{"org-22222222-2222-4222-8222-222222222222"};

} // namespace

BOOST_AUTO_TEST_CASE(says_which_audit_lines_it_kept_when_one_is_refused) {
  stored_books s{100};
  const auto long_line = R"({"event":")" + std::string(200, 'x') + "\"}";
  std::vector<journal_entry> entries(2);
  entries[0].organization = default_organization();
  entries[0].audit = long_line;
  entries[1].organization = another;
  entries[1].audit = R"({"event":"run"})";
  BOOST_TEST(!s.books->write(entries).has_value());
  BOOST_TEST(!entries[0].audit.empty());
  BOOST_TEST(entries[1].audit.empty());
  BOOST_TEST(s.lines_of(another) == 1u);
}

BOOST_AUTO_TEST_CASE(does_not_mind_a_key_that_was_never_claimed) {
  stored_books s;
  std::vector<journal_entry> entries(1);
  entries[0].release
    = key_claim{default_organization(), "once", "", run_id::make()};
  BOOST_TEST(s.books->write(entries).has_value());
}

BOOST_AUTO_TEST_CASE(does_not_wait_for_a_run_that_left_only_its_key) {
  stored_books s;
  key_claim claim{default_organization(), "once", "digest", run_id::make()};
  // As if the process had ended between the key and the record.
  BOOST_REQUIRE(s.kept->idempotency
                  ->claim(claim.organization, claim.key, claim.digest,
                          run_id::make(), now())
                  .has_value());
  auto found = s.books->claim(claim, run_record{});
  BOOST_REQUIRE_MESSAGE(found.has_value(), why(found));
  BOOST_TEST((found->what == claim_outcome::kind::ended));
  BOOST_TEST(!found->result);
}

BOOST_AUTO_TEST_CASE(keeps_a_change_together_with_its_audit_line) {
  stored_books s;
  auto configuration = make_stored_configuration(s.kept);
  put_tool put;
  put.value = adding_tool();
  auto done = configuration->apply(someone(), put, R"({"event":"change"})");
  BOOST_REQUIRE_MESSAGE(done.has_value(), why(done));
  BOOST_TEST(done->audited);
  BOOST_TEST(s.lines_of(default_organization()) == 1u);
  put.value.name.clear();
  BOOST_TEST(!configuration->apply(someone(), put, "{}").has_value());
  BOOST_TEST(s.lines_of(default_organization()) == 1u);
}

// -- fallbacks ----------------------------------------------------------------

BOOST_AUTO_TEST_CASE(gives_a_run_to_nobody_weaker_when_its_config_forbids_it) {
  temporary_directory directory;
  auto local = std::make_shared<scripted_backend>(backend_kind::local);
  auto e2b = std::make_shared<scripted_backend>(backend_kind::e2b);
  e2b->set_script([](auto&, auto&) {
    return run_outcome{error{ec::unavailable, "down", {}, {}}, false};
  });
  engine_options options;
  options.backends = {local, e2b};
  BOOST_REQUIRE(keep_in(directory.path(), options).has_value());
  auto host = open_engine(std::move(options));
  BOOST_REQUIRE_MESSAGE(host.has_value(), why(host));
  auto run = [&] {
    run_answer_box box;
    (*host)->engine().submit(someone(), source_run(), box.handle(), {});
    return box.get();
  };
  BOOST_TEST(run().has_value());
  BOOST_TEST(local->started() == 1);
  put_config put;
  put.type = backend_kind::e2b;
  put.config = {{"allow_weaker_fallback", false}};
  answer<change_reply> changed;
  (*host)->engine().change(someone(), put, changed.handle());
  auto reply = changed.get();
  BOOST_REQUIRE_MESSAGE(reply.has_value(), why(reply));
  auto refused = run();
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST((refused.error().code == ec::unavailable));
  BOOST_TEST(local->started() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
