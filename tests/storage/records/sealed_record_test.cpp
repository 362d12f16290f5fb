// What is kept of runs opens with the organization's key and not without it.
#include "runtime/model/codec/codec.hpp"
#include "storage/database/key_codec.hpp"
#include "storage/maintenance/migration.hpp"
#include "storage/records/sealed_record.hpp"
#include "tests/storage/catalog_fixture.hpp"
#include "tests/support/readable_forms.hpp"

using namespace troupe;
using namespace troupe::tests;

namespace {

constexpr std::string_view canary = "RECORD-canary-41b7";
constexpr auto key_text = "KEY-canary-41b7";
constexpr auto request_text = "a request";

struct sealed_fixture : store_fixture {
  std::filesystem::path path() { return store_directory(options); }

  /// Tells a word wherever a tenant's run can tell one.
  run_record telling(std::int64_t second, bool failed = false) {
    const std::string word{canary};
    run_record r;
    r.id = run_id::make();
    r.organization = alice.organization;
    r.phase = run_phase::ended;
    r.tool_name = "tool-" + word;
    r.agent_id = "agent-" + word;
    r.labels = {{"label", word}};
    r.created_at = at(second);
    r.ended_at = at(second + 1);
    if (failed) {
      r.failure = std::make_shared<const error>(bad_field("/args", word, word));
      return r;
    }
    run_result outcome;
    outcome.id = r.id;
    outcome.value_json = "\"" + word + "\"";
    outcome.stdout_text = word + "\n";
    outcome.stderr_text = word;
    outcome.detail = word;
    outcome.agent_state_json = R"({"state":")" + word + "\"}";
    outcome.failure.name = "ValueError";
    outcome.failure.message = word;
    outcome.failure.traceback = word;
    outcome.network = {{word + ":443", true, word}};
    outcome.notes = {word};
    r.result = std::make_shared<const run_result>(outcome);
    return r;
  }
  void tells_nothing(const std::filesystem::path& where) {
    for (const auto& f : std::filesystem::recursive_directory_iterator{where}) {
      if (!f.is_regular_file() || f.path().filename() == "master.key")
        continue;
      const auto bytes = read_file(f.path());
      for (const auto& text : {std::string{canary}, std::string{key_text}})
        for (const auto& form : readable_forms(text))
          BOOST_TEST(!contains(bytes, form), f.path() << " tells " << form);
    }
  }
  idempotency_claim claim(const run_id& run, std::int64_t second) {
    return must(kept.idempotency->claim(alice.organization, key_text,
                                        request_text, run, at(second)));
  }
  std::string stored_run() {
    return content(*kept.db, column::runs).begin()->second;
  }
};

// As format 1 wrote them: a format byte, JSON, and the result's or the
// answer's own text.
constexpr std::string_view clear{"\1", 1};

std::string clear_run(const author& who, const std::string& id, int second) {
  return key_codec::encode(
    {clear,
     R"({"id":")" + id + R"(","organization_id":")" + who.organization.str()
       + R"(","phase":"ended","tool_name":"t","agent_id":"","backend":"local",)"
         R"("created_at":")"
       + to_text(at(second)) + R"("})",
     R"({"id":")" + id + R"(","status":"success","reason":"exited","value":")"
       + std::string{canary} + R"(","stdout":")" + std::string{canary}
       + R"("})"});
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(sealed_records, sealed_fixture)

BOOST_AUTO_TEST_CASE(tell_nothing_in_any_file_and_read_whole) {
  const auto fine = telling(1);
  const auto failed = telling(2, true);
  must(kept.runs->put(fine));
  must(kept.runs->put(failed, durability::buffered));
  claim(fine.id, 1);
  must(kept.idempotency->finish(alice.organization, key_text, fine.id, canary,
                                at(2)));
  must(create_backup(*kept.db, options.data_directory / "backup"));
  // The search finds what is open: the tools.
  change(alice, put_tool{make_tool("t", "OPEN-canary")});
  tells_nothing(options.data_directory);
  for (int round = 0; round < 2; ++round) {
    for (const auto& r : {fine, failed}) {
      const auto found = must(kept.runs->find(alice.organization, r.id));
      BOOST_TEST(encode_run(found) == encode_run(r));
    }
    const auto again = claim(run_id::make(), 3);
    BOOST_TEST(again.answer == canary);
    BOOST_TEST(again.run.str() == fine.id.str());
    reopen();
  }
  close();
  tells_nothing(options.data_directory);
  bool open_word = false;
  for (const auto& f : std::filesystem::directory_iterator{path()})
    open_word = open_word || contains(read_file(f.path()), "OPEN-canary");
  BOOST_TEST(open_word);
}

BOOST_AUTO_TEST_CASE(open_at_their_own_place_only) {
  const auto r = telling(1);
  must(kept.runs->put(r));
  const auto key = content(*kept.db, column::runs).begin()->first;
  const auto good = stored_run();
  auto reads_with = [&](const std::string& bytes) {
    batch b;
    b.put(column::runs, key, bytes);
    must(kept.db->write(b));
    auto found = kept.runs->find(alice.organization, r.id);
    return found ? std::string{} : found.error().text;
  };
  must(kept.runs->put(telling(2)));
  for (const auto& [other, bytes] : content(*kept.db, column::runs))
    if (other != key)
      BOOST_TEST(contains(reads_with(bytes), "does not open"));
  auto flipped = good;
  flipped[flipped.size() / 2] ^= 1;
  BOOST_TEST(contains(reads_with(flipped), "does not open"));
  BOOST_TEST(contains(reads_with(good.substr(0, 40)), "is not sealed"));
  BOOST_TEST(contains(reads_with(encode_run(r)), "is not sealed"));
  BOOST_TEST(reads_with(good) == "");
}

BOOST_AUTO_TEST_CASE(of_an_older_store_are_sealed_when_it_is_opened) {
  // Interrupted, too: the first of them is sealed already.
  const auto before = telling(0);
  must(kept.runs->put(before));
  const int many = 150; // three pieces
  std::vector<std::string> ids;
  batch b;
  for (int i = 1; i <= many; ++i) {
    ids.push_back(run_id::make().str());
    const auto text = clear_run(alice, ids.back(), i);
    b.put(column::runs, key_codec::encode(alice.organization, {ids.back()}),
          text);
    put_run_index(b, must(decode_run(text)), text.size());
  }
  const auto digest
    = kept.seals->digest(alice.organization, "idempotency", request_text);
  b.put(
    column::idempotency, key_codec::encode(alice.organization, {key_text}),
    key_codec::encode({clear,
                       R"({"request":")" + digest + R"(","run":")" + ids.front()
                         + R"(","state":"ended","expires_at":")"
                         + to_text(at(9'999)) + R"("})",
                       canary}));
  b.put(column::meta, key_codec::encode_global({"format"}),
        key_codec::number(1));
  must(kept.db->write(b));
  reopen();
  BOOST_TEST(must(read_format(*kept.db)) == current_format);
  tells_nothing(options.data_directory);
  BOOST_TEST(kept.runs->count(alice.organization) == many + 1u);
  auto found = must(kept.runs->find(alice.organization, run_id{ids.back()}));
  BOOST_TEST(found.result->value_json == "\"" + std::string{canary} + "\"");
  BOOST_TEST(found.result->stdout_text == canary);
  BOOST_TEST(must(kept.runs->list(alice.organization, "", 1'000)).items.size()
             == many + 1u);
  const auto again = claim(run_id::make(), 1);
  BOOST_TEST((again.what == idempotency_claim::kind::ended));
  BOOST_TEST(again.answer == canary);
  BOOST_TEST(again.run.str() == ids.front());
  BOOST_TEST((code_of(kept.idempotency->claim(alice.organization, key_text,
                                              "another", run_id::make(), at(1)))
              == ec::conflict));
  close();
  tells_nothing(options.data_directory);
}

BOOST_AUTO_TEST_CASE(outlive_a_new_data_key) {
  std::vector<run_id> ids;
  for (int i = 0; i < 150; ++i) {
    const auto r = telling(i);
    ids.push_back(r.id);
    must(kept.runs->put(r));
  }
  claim(ids.front(), 1);
  must(kept.idempotency->finish(alice.organization, key_text, ids.front(),
                                canary, at(2)));
  const auto old = stored_run();
  BOOST_TEST(records::key_version(old) == 1u);
  must(kept.catalog->rotate_data_key(alice.organization,
                                     [&](const rotation_progress&) {
                                       const auto meanwhile = telling(1'000);
                                       ids.push_back(meanwhile.id);
                                       must(kept.runs->put(meanwhile));
                                     }));
  BOOST_TEST(kept.seals->data_key_versions(alice.organization).size() == 1u);
  for (int round = 0; round < 2; ++round) {
    for (const auto& [key, value] : content(*kept.db, column::runs))
      BOOST_TEST(records::key_version(value) == 2u);
    for (const auto& id : ids)
      must(kept.runs->find(alice.organization, id));
    BOOST_TEST(claim(run_id::make(), 3).answer == canary);
    reopen();
  }
}

BOOST_AUTO_TEST_CASE(go_with_their_organization) {
  const auto mine = telling(1);
  auto theirs = telling(2);
  theirs.organization = bob.organization;
  must(kept.runs->put({mine, theirs}));
  claim(mine.id, 1);
  change(alice, put_tool{make_tool("t")});
  must(kept.catalog->erase_organization(alice.organization));
  BOOST_TEST(content(*kept.db, column::runs).size() == 1u);
  BOOST_TEST(content(*kept.db, column::run_index).size() == 1u);
  BOOST_TEST(content(*kept.db, column::idempotency).empty());
  must(kept.runs->erase_organization(alice.organization));
  must(kept.idempotency->erase_organization(alice.organization));
  // And whoever has the name afterwards begins anew.
  BOOST_TEST(kept.runs->count(alice.organization) == 0u);
  must(kept.runs->put(telling(3)));
  BOOST_TEST((claim(mine.id, 2).what == idempotency_claim::kind::mine));
  reopen();
  BOOST_TEST(must(kept.runs->list(alice.organization, "", 9)).items.size()
             == 1u);
  must(kept.runs->find(bob.organization, theirs.id));
}

// It must not keep an engine from starting.
BOOST_AUTO_TEST_CASE(that_do_not_open_are_no_runs_to_go_on_with) {
  auto running = telling(1);
  running.phase = run_phase::running;
  auto gone = telling(2);
  gone.phase = run_phase::running;
  must(kept.runs->put({running, gone}));
  batch b;
  b.put(column::runs, key_codec::encode(alice.organization, {gone.id.str()}),
        must(records::seal(*kept.seals,
                           place_of_run(bob.organization, gone.id.str()),
                           encode_run(gone))));
  must(kept.db->write(b));
  reopen();
  const auto left = must(kept.runs->unfinished());
  BOOST_TEST_REQUIRE(left.size() == 1u);
  BOOST_TEST(left.front().id.str() == running.id.str());
}

BOOST_AUTO_TEST_SUITE_END()
