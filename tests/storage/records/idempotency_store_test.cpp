#include "storage/records/idempotency_store.hpp"
#include "tests/storage/catalog_fixture.hpp"

#include <atomic>
#include <thread>

using namespace troupe;
using namespace troupe::tests;

using kind = idempotency_claim::kind;

namespace {

struct fixture : store_fixture {
  run_id first = run_id::make();
  run_id second = run_id::make();

  idempotency_claim claim(const author& who, const std::string& key,
                          const std::string& request, const run_id& run,
                          std::int64_t second_of = 0) {
    return must(kept.idempotency->claim(who.organization, key, request, run,
                                        at(second_of)));
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(idempotency_store_suite, fixture)

BOOST_AUTO_TEST_CASE(gives_a_key_to_the_first_and_its_answer_to_the_others) {
  BOOST_TEST((claim(alice, "k", "request", first).what == kind::mine));
  auto again = claim(alice, "k", "request", second);
  BOOST_TEST((again.what == kind::running));
  BOOST_TEST(again.run.str() == first.str());
  must(
    kept.idempotency->finish(alice.organization, "k", first, "answer", at(1)));
  reopen();
  auto late = claim(alice, "k", "request", second);
  BOOST_TEST((late.what == kind::ended));
  BOOST_TEST(late.run.str() == first.str());
  BOOST_TEST(late.answer == "answer");
}

BOOST_AUTO_TEST_CASE(refuses_a_key_for_another_request) {
  claim(alice, "k", "request", first);
  auto other
    = kept.idempotency->claim(alice.organization, "k", "other", second, at(0));
  BOOST_TEST((code_of(other) == ec::conflict));
  // Keys belong to organizations.
  BOOST_TEST((claim(bob, "k", "other", second).what == kind::mine));
}

BOOST_AUTO_TEST_CASE(keeps_no_plain_digest_of_a_request) {
  claim(alice, "k", "a secret request", first);
  std::string all;
  for (const auto& [key, value] : content(*kept.db, column::idempotency))
    all += value;
  BOOST_TEST(!contains(all, "secret"));
  BOOST_TEST(contains(
    all,
    kept.seals->digest(alice.organization, "idempotency", "a secret request")));
}

BOOST_AUTO_TEST_CASE(gives_back_a_key_whose_run_never_began) {
  claim(alice, "k", "request", first);
  BOOST_TEST(
    (code_of(kept.idempotency->release(alice.organization, "k", second))
     == ec::not_found));
  must(kept.idempotency->release(alice.organization, "k", first));
  BOOST_TEST((claim(alice, "k", "other", second).what == kind::mine));
  BOOST_TEST((code_of(kept.idempotency->finish(alice.organization, "k", first,
                                               "late", at(1)))
              == ec::not_found));
}

BOOST_AUTO_TEST_CASE(forgets_a_key_when_its_time_is_over) {
  claim(alice, "k", "request", first);
  auto day = std::int64_t{24 * 3600};
  BOOST_TEST(
    (claim(alice, "k", "request", second, day - 1).what == kind::running));
  BOOST_TEST((claim(alice, "k", "other", second, day).what == kind::mine));
  claim(bob, "k", "request", first, day);
  BOOST_TEST(must(kept.idempotency->sweep(at(2 * day - 1))) == 0u);
  BOOST_TEST(must(kept.idempotency->sweep(at(2 * day))) == 2u);
  BOOST_TEST(content(*kept.db, column::idempotency).empty());
}

BOOST_AUTO_TEST_CASE(sweeps_a_few_at_a_time_and_comes_round) {
  for (const auto* key : {"a", "b", "c", "d", "e"})
    claim(alice, key, "request", first);
  const auto late = at(2 * 24 * 3600);
  BOOST_TEST(must(kept.idempotency->sweep(late, 2)) == 2u);
  BOOST_TEST(must(kept.idempotency->sweep(late, 2)) == 2u);
  BOOST_TEST(must(kept.idempotency->sweep(late, 2)) == 1u);
  BOOST_TEST(content(*kept.db, column::idempotency).empty());
  claim(alice, "a", "request", first);
  BOOST_TEST(must(kept.idempotency->sweep(late, 2)) == 1u);
}

BOOST_AUTO_TEST_CASE(bounds_keys_and_answers) {
  close();
  options.idempotency.keep_keys = 2;
  options.idempotency.answer_bytes = 4;
  open();
  claim(alice, "1", "r", first);
  claim(alice, "2", "r", first);
  BOOST_TEST((
    code_of(kept.idempotency->claim(alice.organization, "3", "r", first, at(0)))
    == ec::exhausted));
  claim(bob, "3", "r", first);
  must(kept.idempotency->finish(alice.organization, "1", first, "too long",
                                at(0)));
  auto ended = claim(alice, "1", "r", second);
  BOOST_TEST((ended.what == kind::ended));
  BOOST_TEST(ended.answer == "");
  BOOST_TEST(ended.run.str() == first.str());
  for (const auto& key : {std::string{}, std::string(256, 'k')})
    BOOST_TEST((code_of(kept.idempotency->claim(alice.organization, key, "r",
                                                first, at(0)))
                == ec::invalid_request));
}

BOOST_AUTO_TEST_CASE(gives_a_key_to_exactly_one_of_many) {
  std::atomic<int> mine = 0;
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        auto c = kept.idempotency->claim(alice.organization, std::to_string(i),
                                         "r", run_id::make(), at(0));
        failed += !c;
        mine += c && c->what == kind::mine;
      }
    });
  for (auto& t : threads)
    t.join();
  BOOST_TEST(failed == 0);
  BOOST_TEST(mine == 20);
}

BOOST_AUTO_TEST_SUITE_END()
