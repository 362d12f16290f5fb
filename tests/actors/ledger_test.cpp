#include "actors/stores.hpp"
#include "tests/support/engine_fixture.hpp"

#include <atomic>
#include <future>
#include <mutex>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(ledger_suite)

namespace {

/// Counts what is written and notes how much of it was there at each sync.
class counting_journal final : public journal {
public:
  result<void> write(std::span<journal_entry> entries) override {
    longest = std::max(longest.load(), entries.size());
    written += entries.size();
    return real_->write(entries);
  }
  result<void> sync() override {
    synced = written.load();
    if (!asked_.exchange(true))
      first_sync.set_value();
    return real_->sync();
  }
  result<claim_outcome> claim(const key_claim& wanted,
                              const run_record& begun) override {
    return real_->claim(wanted, begun);
  }
  result<std::optional<run_record>> find_run(const organization_id& who,
                                             const run_id& id) override {
    return real_->find_run(who, id);
  }
  result<page<run_record>> list_runs(const organization_id& who,
                                     const std::string& after,
                                     std::size_t limit) override {
    return real_->list_runs(who, after, limit);
  }
  result<page<audit_entry>> list_audit(const organization_id& who,
                                       std::uint64_t after,
                                       std::size_t limit) override {
    return real_->list_audit(who, after, limit);
  }
  result<std::size_t> mark_lost() override { return real_->mark_lost(); }
  result<void> tidy() override { return real_->tidy(); }

  std::atomic<std::size_t> written{0}, synced{0}, longest{0};
  std::promise<void> first_sync;

private:
  std::atomic<bool> asked_{false};
  std::shared_ptr<journal> real_ = make_memory_journal();
};

struct counted_engine {
  std::shared_ptr<counting_journal> books
    = std::make_shared<counting_journal>();
  engine_fixture f;

  explicit counted_engine(std::chrono::milliseconds sync_after,
                          scripted_backend::mode how
                          = scripted_backend::mode::answer)
      : f{how, with(books, sync_after)} {}

  static engine_options with(std::shared_ptr<journal> books,
                             std::chrono::milliseconds sync_after) {
    engine_options options;
    options.books = std::move(books);
    options.ledger.sync_after = sync_after;
    return options;
  }
};

constexpr std::chrono::hours never{1};

} // namespace

BOOST_AUTO_TEST_CASE(syncs_what_nobody_waits_for_a_little_later) {
  counted_engine e{std::chrono::milliseconds{1}};
  BOOST_REQUIRE(e.f.run(source_run()).has_value());
  BOOST_REQUIRE(
    (e.books->first_sync.get_future().wait_for(std::chrono::seconds{20})
     == std::future_status::ready));
  BOOST_TEST(e.books->synced > 0u);
}

BOOST_AUTO_TEST_CASE(syncs_a_detached_run_before_it_is_accepted) {
  counted_engine e{never, scripted_backend::mode::hold};
  answer<run_record> accepted;
  e.f.engine().submit_detached(someone(), source_run(), accepted.handle());
  BOOST_REQUIRE(accepted.get().has_value());
  BOOST_TEST(e.books->synced > 0u);
  BOOST_TEST(e.f.local->wait_for_held(1) == 1u);
  e.f.local->release_all();
}

BOOST_AUTO_TEST_CASE(syncs_the_rest_when_it_stops) {
  counted_engine e{never};
  BOOST_REQUIRE(e.f.run(source_run()).has_value());
  e.f.host->stop();
  BOOST_TEST(e.books->written > 0u);
  BOOST_TEST(e.books->synced == e.books->written);
}

BOOST_AUTO_TEST_CASE(writes_a_flood_in_small_pieces) {
  counted_engine e{never};
  std::vector<run_answer_box> boxes(2'000);
  for (auto& box : boxes)
    e.f.engine().submit(someone(), source_run(), box.handle(), {});
  for (auto& box : boxes)
    BOOST_REQUIRE(box.get().has_value());
  e.f.host->stop();
  BOOST_TEST(e.books->written >= boxes.size());
  BOOST_TEST(e.books->longest <= 64u);
}

BOOST_AUTO_TEST_SUITE_END()
