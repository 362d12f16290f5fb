#include "storage/records/sandbox_record_store.hpp"
#include "storage/records/sealed_record.hpp"
#include "tests/storage/catalog_fixture.hpp"

using namespace troupe;
using namespace troupe::tests;

namespace {

constexpr const char* hidden = "a-value-that-must-not-be-read";

struct store_of_sandboxes : store_fixture {
  stored_sandbox sandbox() {
    stored_sandbox s;
    auto& r = s.record;
    r.id = sandbox_id::make();
    r.organization = alice.organization;
    r.name = "web";
    r.session = "chat-42";
    r.state = sandbox_state::running;
    r.metadata = {{"chat", "42"}};
    r.place = backend_kind::e2b;
    r.template_name = "base";
    r.created_at = at(1);
    r.ends_at = at(100);
    r.timeout = std::chrono::milliseconds{90'500};
    r.on_timeout = timeout_action::pause;
    r.idle_timeout = std::chrono::seconds{60};
    r.auto_resume = true;
    r.isolation = isolation_level::strict;
    r.resources.memory_bytes = 123u << 20;
    r.resources.inodes = 777;
    r.network = {network_mode::off, {}};
    r.failure
      = std::make_shared<const error>(fail(ec::unavailable, "was late"));
    s.env.emplace("TOKEN", secret{hidden});
    s.box.id = "sb-1";
    s.box.keys.emplace("access", secret{hidden});
    s.box.env.emplace("OF_RUN", secret{hidden});
    return s;
  }
  std::vector<stored_sandbox> load() {
    std::size_t unreadable = 0;
    auto all = must(kept.living_sandboxes->load(unreadable));
    BOOST_TEST(unreadable == 0u);
    return all;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(records_of_sandboxes, store_of_sandboxes)

BOOST_AUTO_TEST_CASE(come_back_whole_after_a_restart) {
  const auto s = sandbox();
  must(kept.living_sandboxes->put(s, true));
  reopen();
  const auto all = load();
  BOOST_REQUIRE(all.size() == 1u);
  BOOST_TEST(encode_sandbox(all[0]) == encode_sandbox(s));
  const auto& r = all[0].record;
  BOOST_TEST((r.id == s.record.id));
  BOOST_TEST((r.place == s.record.place));
  BOOST_TEST((r.resources == s.record.resources));
  BOOST_TEST(r.timeout.count() == 90'500);
  BOOST_TEST((r.on_timeout == timeout_action::pause));
  BOOST_TEST(r.failure->text == "was late");
  BOOST_TEST(all[0].env.at("TOKEN").reveal() == hidden);
  BOOST_TEST(all[0].box.keys.at("access").reveal() == hidden);
}

BOOST_AUTO_TEST_CASE(tell_nothing_in_the_files_of_the_store) {
  must(kept.living_sandboxes->put(sandbox(), true));
  for (const auto& [key, value] : content(*kept.db, column::living_sandboxes)) {
    BOOST_TEST(!contains(value, hidden));
    BOOST_TEST(!contains(value, "chat-42"));
  }
}

BOOST_AUTO_TEST_CASE(are_replaced_and_go) {
  auto s = sandbox();
  must(kept.living_sandboxes->put(s, false));
  s.record.state = sandbox_state::paused;
  must(kept.living_sandboxes->put(s, false));
  BOOST_REQUIRE(load().size() == 1u);
  BOOST_TEST((load()[0].record.state == sandbox_state::paused));
  must(kept.living_sandboxes->erase(alice.organization, s.record.id));
  must(kept.living_sandboxes->erase(alice.organization, s.record.id));
  BOOST_TEST(load().empty());
}

BOOST_AUTO_TEST_CASE(a_damaged_or_misplaced_one_does_not_hide_the_others) {
  must(kept.living_sandboxes->put(sandbox(), false));
  must(kept.living_sandboxes->put(sandbox(), false));
  auto all = content(*kept.db, column::living_sandboxes);
  batch changes;
  changes.put(column::living_sandboxes, all.begin()->first, "\x01garbage");
  changes.put(column::living_sandboxes, all.begin()->first + "x",
              all.rbegin()->second);
  must(kept.db->write(changes));
  std::size_t unreadable = 0;
  BOOST_TEST(must(kept.living_sandboxes->load(unreadable)).size() == 1u);
  BOOST_TEST(unreadable == 2u);
}

BOOST_AUTO_TEST_CASE(of_an_organization_outlive_its_new_key_and_not_its_end) {
  must(kept.living_sandboxes->put(sandbox(), false));
  must(kept.catalog->rotate_data_key(alice.organization));
  for (const auto& [key, value] : content(*kept.db, column::living_sandboxes))
    BOOST_TEST(records::key_version(value) == 2u);
  BOOST_TEST(load().size() == 1u);
  change(alice, put_tool{make_tool("t")});
  must(kept.catalog->erase_organization(alice.organization));
  BOOST_TEST(content(*kept.db, column::living_sandboxes).empty());
}

BOOST_AUTO_TEST_CASE(text_that_is_none_is_refused) {
  for (const char* text :
       {"", "{", "[]", "{}", R"({"id":"x","state":"running"})",
        R"({"id":"k3v9x0q2m8c7b1n5z4l6pw","state":"odd","place":"local"})"})
    BOOST_TEST(!decode_sandbox(text).has_value(), text);
}

BOOST_AUTO_TEST_SUITE_END()
