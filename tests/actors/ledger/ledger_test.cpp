#include "actors/engine/engine_internals.hpp"
#include "tests/support/engine/engine_fixture.hpp"
#include "tests/support/engine/forwarding_journal.hpp"

#include <atomic>
#include <future>
#include <stdexcept>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(ledger_suite)

namespace {

/// Counts what is written and notes how much of it was there at each sync.
class counting_journal final : public forwarding_journal {
public:
  result<void> write(std::span<journal_entry> entries) override {
    longest = std::max(longest.load(), entries.size());
    written += entries.size();
    return forwarding_journal::write(entries);
  }
  result<void> sync() override {
    synced = written.load();
    if (!asked_.exchange(true))
      first_sync.set_value();
    return forwarding_journal::sync();
  }

  std::atomic<std::size_t> written{0}, synced{0}, longest{0};
  std::promise<void> first_sync;

private:
  std::atomic<bool> asked_{false};
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

/// Does not write what a test does not want it to.
class broken_journal final : public forwarding_journal {
public:
  using refusal = std::function<bool(const journal_entry&)>;

  void refuse(refusal which) {
    std::lock_guard guard{mutex_};
    which_ = std::move(which);
  }
  result<void> write(std::span<journal_entry> entries) override {
    {
      std::lock_guard guard{mutex_};
      for (const auto& entry : entries)
        if (which_ && which_(entry))
          return error{ec::internal, "the disk is broken", {}, {}};
    }
    return forwarding_journal::write(entries);
  }

private:
  std::mutex mutex_;
  refusal which_;
};

struct broken_engine {
  std::shared_ptr<broken_journal> books = std::make_shared<broken_journal>();
  engine_fixture f{scripted_backend::mode::answer, with(books)};

  // It writes once when it begins: not in the middle of what a test does.
  broken_engine() { BOOST_REQUIRE(listed() == 0u); }

  static engine_options with(std::shared_ptr<journal> books) {
    engine_options options;
    options.books = std::move(books);
    options.ledger.coalesce = never; // only when somebody waits or asks
    return options;
  }
  std::size_t listed() {
    answer<page<run_record>> box;
    f.engine().list_runs(someone(), "", 100, box.handle());
    auto found = box.get();
    return found ? found->items.size() : 0;
  }
};

run_request named_run(std::string name) {
  auto request = source_run();
  request.tool_name = std::move(name);
  return request;
}

} // namespace

// -- a store that fails -------------------------------------------------------

BOOST_AUTO_TEST_CASE(refuses_a_detached_run_that_it_cannot_write_down) {
  broken_engine e;
  e.books->refuse([](const auto&) { return true; });
  answer<run_record> accepted;
  e.f.engine().submit_detached(someone(), source_run(), accepted.handle());
  auto refused = accepted.get();
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST((refused.error().code == ec::unavailable));
  answer<run_record> next; // behind what could not be written
  e.f.engine().submit_detached(someone(), source_run(), next.handle());
  BOOST_TEST(!next.get().has_value());
  BOOST_TEST(e.f.local->started() == 0);
  e.books->refuse({});
  answer<run_record> again;
  e.f.engine().submit_detached(someone(), source_run(), again.handle());
  BOOST_TEST(again.get().has_value());
}

BOOST_AUTO_TEST_CASE(writes_what_failed_when_the_store_is_well_again) {
  broken_engine e;
  e.books->refuse([](const auto&) { return true; });
  for (int i = 0; i < 3; ++i)
    BOOST_REQUIRE(e.f.run(source_run()).has_value());
  BOOST_TEST(e.listed() == 0u); // it has tried
  const std::string none = "troupe_ledger_write_failures_total 0\n";
  BOOST_TEST(e.f.engine().metrics().find(none) == std::string::npos);
  auto& c = *context_of(*e.f.host);
  BOOST_TEST(c.record_fails.load());
  BOOST_REQUIRE(e.f.run(source_run()).has_value());
  e.books->refuse({});
  BOOST_TEST(e.listed() == 4u);
  BOOST_TEST(!c.record_fails.load());
}

BOOST_AUTO_TEST_CASE(leaves_out_the_one_line_that_the_store_refuses) {
  broken_engine e;
  e.books->refuse([](const journal_entry& entry) {
    return entry.run && entry.run->tool_name == "bad";
  });
  for (const auto* name : {"good", "bad", "good", "good"})
    BOOST_REQUIRE(e.f.run(named_run(name)).has_value());
  BOOST_TEST(e.listed() == 3u);
  BOOST_REQUIRE(e.f.run(named_run("good")).has_value());
  BOOST_TEST(e.listed() == 4u);
  BOOST_TEST(e.f.engine().metrics().find("troupe_ledger_entries_lost_total 1")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(leaves_its_lines_to_the_next_ledger_when_it_dies) {
  broken_engine e;
  std::atomic<int> deaths{0};
  e.books->refuse([&](const journal_entry& entry) {
    if (entry.run && deaths++ == 0)
      throw std::runtime_error{"a bug"};
    return false;
  });
  auto request = source_run();
  BOOST_REQUIRE(e.f.run(request).has_value());
  BOOST_TEST(e.listed() == 0u); // the question died with the ledger
  auto& c = *context_of(*e.f.host);
  while (meters::of(c.meter.restarts) == 0)
    std::this_thread::yield();
  while (!c.routes.load()->ledger)
    std::this_thread::yield();
  BOOST_TEST(e.listed() == 1u);
}

// -- keys ---------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(looks_up_one_key_beside_a_flood_of_anothers) {
  constexpr int flood = 200;
  const std::string lonely = "org-11111111-1111-4111-8111-111111111111";
  struct patient_journal final : forwarding_journal {
    std::promise<void> go_on;
    std::vector<std::string> claims; // the ledger's until `done`
    std::promise<void> done;
    result<claim_outcome> claim(const key_claim& wanted,
                                const run_record&) override {
      if (claims.empty())
        go_on.get_future().wait();
      claims.push_back(wanted.organization.str());
      if (claims.size() == flood + 1)
        done.set_value();
      return error{ec::unavailable, "only looked", {}, {}};
    }
  };
  auto books = std::make_shared<patient_journal>();
  engine_fixture f{scripted_backend::mode::answer, broken_engine::with(books)};
  auto ledger = context_of(*f.host)->routes.load()->ledger;
  caf::scoped_actor self{ledger.home_system()};
  auto claim_for = [&](const caller& who) {
    auto request = source_run();
    request.id = run_id::make();
    request.idempotency_key = request.id.str();
    auto run = std::make_shared<active_run>(
      who, std::make_shared<const run_request>(std::move(request)),
      event_bounds{});
    self->send(ledger, claim_v, std::move(run));
  };
  for (int i = 0; i < flood; ++i)
    claim_for(someone());
  claim_for(someone(lonely));
  books->go_on.set_value();
  BOOST_REQUIRE((books->done.get_future().wait_for(std::chrono::seconds{20})
                 == std::future_status::ready));
  const auto& all = books->claims;
  const auto at = std::find(all.begin(), all.end(), lonely) - all.begin();
  BOOST_TEST(at <= 66); // one batch was under way, then they take turns
}

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
