// The catalog as a whole: its readers, its bounds, what is damaged.
#include "runtime/model/codec/codec.hpp"
#include "storage/catalog/catalog_store.hpp"
#include "storage/records/record_format.hpp"
#include "tests/storage/catalog_fixture.hpp"

#include <atomic>
#include <thread>

using namespace troupe;
using namespace troupe::tests;

BOOST_FIXTURE_TEST_SUITE(catalog_whole_suite, store_fixture)

BOOST_AUTO_TEST_CASE(lets_readers_keep_their_picture) {
  change(alice, put_tool{make_tool("one")});
  auto before = kept.catalog->current();
  change(alice, put_tool{make_tool("two")});
  change(bob, put_tool{make_tool("three")});
  BOOST_TEST(before->organizations.size() == 1u);
  BOOST_TEST(before->find(alice.organization)->tools.size() == 1u);
  auto after = kept.catalog->current();
  BOOST_TEST(after->version == before->version + 2);
  // Only what changed was copied.
  change(bob, put_tool{make_tool("four")});
  BOOST_TEST((kept.catalog->current()->organizations.at(alice.organization)
              == after->organizations.at(alice.organization)));
  auto last = version();
  reopen();
  BOOST_TEST(version() == last);
}

BOOST_AUTO_TEST_CASE(keeps_names_unique_among_many_threads) {
  std::atomic<int> created = 0;
  std::atomic<int> conflicts = 0;
  std::atomic<int> configs = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        auto tool = make_tool("tool-" + std::to_string(i));
        auto made = kept.catalog->apply(alice, put_tool{tool, true}, at(i));
        created += made.has_value();
        conflicts += !made && made.error().code == ec::conflict;
        auto config = kept.catalog->apply(
          alice, default_config{backend_kind::local}, at(i));
        configs += config && config->created;
      }
    });
  for (auto& t : threads)
    t.join();
  BOOST_TEST(created == 10);
  BOOST_TEST(conflicts == 30);
  BOOST_TEST(configs == 1);
  reopen();
  BOOST_TEST(of(alice).tools.size() == 10u);
}

// H39
BOOST_AUTO_TEST_CASE(bounds_what_an_organization_keeps) {
  close();
  auto& limits = options.catalog.limits;
  limits.tools = 2;
  limits.variables_per_config = 1;
  limits.variables_per_agent = 1;
  limits.agents = 1;
  limits.keys = 1;
  open();
  change(alice, put_tool{make_tool("1")});
  change(alice, put_tool{make_tool("2")});
  BOOST_TEST(
    (code_of(apply(alice, put_tool{make_tool("3")})) == ec::exhausted));
  change(bob, put_tool{make_tool("3")});
  auto c = config(alice);
  change(alice, put_variable{c, "A", secret{"x"}, ""});
  change(alice, put_variable{c, "A", secret{"y"}, ""});
  BOOST_TEST((code_of(apply(alice, put_variable{c, "B", secret{"x"}, ""}))
              == ec::exhausted));
  change(alice, put_agent_variables{"1", {{"A", secret{"x"}}}});
  BOOST_TEST((
    code_of(apply(alice, put_agent_variables{"1", {{"B", secret{"x"}}}, false}))
    == ec::exhausted));
  BOOST_TEST(
    (code_of(apply(alice, put_agent_variables{"2", {{"A", secret{"x"}}}}))
     == ec::exhausted));
  change(alice, put_key{make_key("1")});
  BOOST_TEST((code_of(apply(alice, put_key{make_key("2")})) == ec::exhausted));
}

BOOST_AUTO_TEST_CASE(refuses_a_change_on_behalf_of_nobody) {
  BOOST_TEST((code_of(apply({}, put_tool{make_tool("x")})) == ec::denied));
}

BOOST_AUTO_TEST_CASE(refuses_records_that_were_moved_or_do_not_read) {
  auto c = config(alice);
  config(bob);
  change(alice, put_variable{c, "K", secret{"v"}, ""});
  change(alice, put_tool{make_tool("t")});
  auto with
    = [&](column where, const std::string& key, const std::string& value) {
        auto old = must(kept.db->get(where, key));
        batch b;
        b.put(where, key, value);
        must(kept.db->write(b));
        auto opened = catalog_store::open(kept.db, kept.seals);
        batch back;
        if (old)
          back.put(where, key, *old);
        else
          back.erase(where, key);
        must(kept.db->write(back));
        return opened ? std::string{} : to_string(opened.error());
      };
  auto tools = content(*kept.db, column::tools);
  auto [key, value] = *tools.begin();
  auto stranger = key;
  stranger.replace(key.find("org-a"), 5, "org-b");
  BOOST_TEST(contains(with(column::tools, stranger, value), "wrong key"));
  BOOST_TEST(contains(with(column::tools, key, "rubbish"), "does not read"));
  BOOST_TEST(contains(
    with(column::tools, key, value.substr(0, value.size() - 1)), "damaged"));
  auto newer = value;
  newer[4] = 9; // the format byte
  BOOST_TEST(contains(with(column::tools, key, newer), "newer version"));
  must(catalog_store::open(kept.db, kept.seals));
}

BOOST_AUTO_TEST_CASE(names_a_value_that_does_not_open) {
  auto c = config(alice);
  auto v = change(alice, put_variable{c, "K", secret{"v"}, ""}).variable;
  must(kept.catalog->verify());
  auto stored = *v;
  stored.sealed.back() ^= 1;
  batch b;
  b.put(column::variables, variable_traits::key(stored),
        variable_traits::encode(stored));
  must(kept.db->write(b));
  reopen();
  auto verified = kept.catalog->verify();
  BOOST_TEST((code_of(verified) == ec::denied));
  BOOST_TEST(contains(text_of(verified), v->about.id.str()));
  // And it can be replaced.
  change(alice, put_variable{c, "K", secret{"w"}, ""});
  must(kept.catalog->verify());
}

BOOST_AUTO_TEST_CASE(lists_records_in_pages) {
  for (int i = 0; i < 7; ++i)
    change(alice, put_tool{make_tool("tool-" + std::to_string(i))});
  change(bob, put_tool{make_tool("other")});
  tool_store tools{kept.db};
  std::vector<std::string> ids;
  std::string after;
  do {
    auto some = must(tools.list(alice.organization, after, 3));
    BOOST_TEST(some.items.size() <= 3u);
    for (const auto& t : some.items) {
      BOOST_TEST(t.organization.str() == "org-a");
      ids.push_back(t.id.str());
    }
    after = some.next;
  } while (!after.empty());
  BOOST_TEST(ids.size() == 7u);
  BOOST_TEST(std::is_sorted(ids.begin(), ids.end()));
  BOOST_TEST(
    (code_of(tools.list(alice.organization, "xyz", 3)) == ec::invalid_request));
  // A cursor of another organization reads nothing of it.
  auto theirs = must(tools.list(bob.organization, "", 1));
  auto mine = must(tools.list(alice.organization, "", 3)).next;
  for (const auto& t : must(tools.list(bob.organization, mine, 9)).items)
    BOOST_TEST(t.organization.str() == "org-b");
  auto found = must(tools.find(alice.organization, {ids.front()}));
  BOOST_TEST(found->id.str() == ids.front());
  BOOST_TEST(!must(tools.find(bob.organization, {ids.front()})));
}

BOOST_AUTO_TEST_SUITE_END()
