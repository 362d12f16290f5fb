#include "runtime/engine/audit_page.hpp"
#include "storage/database/key_codec.hpp"
#include "storage/records/audit_store.hpp"
#include "tests/storage/catalog_fixture.hpp"

#include <thread>

using namespace troupe;
using namespace troupe::tests;

namespace {

json::object entry(int n) {
  return {{"event", "run"}, {"number", n}};
}

struct fixture : store_fixture {
  void append(const author& who, int n) {
    must(kept.audit->append(who.organization, entry(n), at(n)));
  }
  std::string verify_text(const author& who) {
    auto verified = kept.audit->verify(who.organization);
    return verified ? std::string{} : to_string(verified.error());
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(audit_store_suite, fixture)

BOOST_AUTO_TEST_CASE(numbers_and_chains_what_happened) {
  for (int n = 1; n <= 5; ++n)
    append(alice, n);
  reopen();
  append(alice, 6);
  append(bob, 1);
  auto some = must(kept.audit->list(alice.organization, 0, 4));
  BOOST_REQUIRE(some.items.size() == 4u);
  BOOST_TEST(some.items[3].sequence == 4u);
  BOOST_TEST((some.items[3].what == entry(4)));
  BOOST_TEST((some.items[3].at == at(4)));
  BOOST_TEST(some.next == "4");
  auto rest = must(kept.audit->list(alice.organization, 4, 4));
  BOOST_TEST(rest.items.size() == 2u);
  BOOST_TEST(rest.next == "");
  auto summary = must(kept.audit->verify(alice.organization));
  BOOST_TEST(summary.first == 1u);
  BOOST_TEST(summary.last == 6u);
  BOOST_TEST(summary.hash == rest.items.back().hash);
  must(kept.audit->verify_all());
  auto newest
    = must(kept.audit->list(alice.organization, newest_audit_entries, 4));
  BOOST_TEST_REQUIRE(newest.items.size() == 4u);
  BOOST_TEST(newest.items.back().sequence == summary.last);
  BOOST_TEST(newest.next.empty());
  BOOST_TEST(must(kept.audit->verify(organization_id{"none"})).last == 0u);
}

// P19
BOOST_AUTO_TEST_CASE(shows_any_change_of_the_past) {
  for (int n = 1; n <= 4; ++n)
    append(alice, n);
  auto all = content(*kept.db, column::audit);
  auto key = [&](std::uint64_t n) {
    return key_codec::encode(alice.organization, {key_codec::number(n)});
  };
  auto tried = [&](const std::function<void(batch&)>& tamper) {
    batch b;
    tamper(b);
    must(kept.db->write(b));
    auto text = verify_text(alice);
    auto everywhere = kept.audit->verify_all();
    BOOST_TEST(!everywhere);
    batch back;
    back.erase_prefix(column::audit, key_codec::encode(alice.organization));
    for (const auto& [k, v] : all)
      back.put(column::audit, k, v);
    must(kept.db->write(back));
    BOOST_TEST(verify_text(alice) == "");
    return text;
  };
  // Every bit of an entry.
  auto second = all.at(key(2));
  for (std::size_t bit = 0; bit < 8 * second.size(); bit += 3) {
    auto changed = second;
    changed[bit / 8] ^= static_cast<char>(1 << bit % 8);
    batch b;
    b.put(column::audit, key(2), changed);
    must(kept.db->write(b, durability::buffered));
    BOOST_REQUIRE(verify_text(alice) != "");
  }
  batch back;
  back.put(column::audit, key(2), second);
  must(kept.db->write(back));
  BOOST_TEST(contains(tried([&](batch& b) { b.erase(column::audit, key(2)); }),
                      "audit entry 2 is missing"));
  BOOST_TEST(contains(tried([&](batch& b) { b.erase(column::audit, key(1)); }),
                      "audit entry 1 is missing"));
  BOOST_TEST(contains(tried([&](batch& b) { b.erase(column::audit, key(4)); }),
                      "audit entry 4 is missing"));
  BOOST_TEST(contains(
    tried([&](batch& b) { b.put(column::audit, key(5), all.at(key(4))); }),
    "audit entry 5"));
  BOOST_TEST(contains(tried([&](batch& b) {
                        b.put(column::audit, key(1), all.at(key(3)));
                        b.put(column::audit, key(3), all.at(key(1)));
                      }),
                      "audit entry 1"));
}

BOOST_AUTO_TEST_CASE(keeps_the_records_of_tenants_apart) {
  append(alice, 1);
  auto stolen = content(*kept.db, column::audit).begin()->second;
  append(bob, 1);
  batch b;
  b.put(column::audit,
        key_codec::encode(bob.organization, {key_codec::number(1)}), stolen);
  must(kept.db->write(b));
  BOOST_TEST(verify_text(bob) != "");
  BOOST_TEST(verify_text(alice) == "");
}

BOOST_AUTO_TEST_CASE(goes_on_from_where_old_entries_were_dropped) {
  close();
  options.audit.keep_entries = 100;
  open();
  std::vector<json::object> some(300, entry(0));
  for (int round = 0; round < 10; ++round)
    must(kept.audit->append(alice.organization, some, at(round),
                            durability::buffered));
  auto summary = must(kept.audit->verify(alice.organization));
  BOOST_TEST(summary.last == 3000u);
  BOOST_TEST(summary.first > 1u);
  BOOST_TEST(content(*kept.db, column::audit).size() < 1'500u);
  reopen();
  append(alice, 1);
  BOOST_TEST(must(kept.audit->verify(alice.organization)).last == 3001u);
}

BOOST_AUTO_TEST_CASE(appends_all_or_nothing_and_bounds_an_entry) {
  append(alice, 1);
  std::vector<json::object> some{entry(2),
                                 {{"huge", std::string(100u << 10, 'x')}}};
  BOOST_TEST((code_of(kept.audit->append(alice.organization, some, at(2)))
              == ec::invalid_request));
  append(alice, 3);
  auto summary = must(kept.audit->verify(alice.organization));
  BOOST_TEST(summary.last == 2u);
}

BOOST_AUTO_TEST_CASE(takes_texts_as_it_takes_objects) {
  append(alice, 1);
  std::vector<std::string_view> texts{R"({"n":2})", R"({"n":3})"};
  must(kept.audit->append_texts(alice.organization, texts, at(2)));
  BOOST_TEST(must(kept.audit->verify(alice.organization)).last == 3u);
  auto all = must(kept.audit->list(alice.organization, 1, 10));
  BOOST_REQUIRE(all.items.size() == 2u);
  BOOST_TEST(all.items[1].what.at("n").to_number<int>() == 3);
}

BOOST_AUTO_TEST_CASE(numbers_without_holes_among_many_threads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i)
        static_cast<void>(kept.audit->append(alice.organization, entry(i),
                                             at(i), durability::buffered));
    });
  for (auto& t : threads)
    t.join();
  BOOST_TEST(must(kept.audit->verify(alice.organization)).last == 200u);
}

BOOST_AUTO_TEST_SUITE_END()
