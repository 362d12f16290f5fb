#include "tests/actors/stepped_engine.hpp"
#include "tests/support/engine/forwarding_journal.hpp"

#include <caf/scoped_actor.hpp>

#include <algorithm>
#include <stdexcept>

using namespace troupe;
using namespace troupe::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(ledger_suite)

namespace {

/// Counts what is written and notes how much of it was there at each sync.
class counting_journal final : public forwarding_journal {
public:
  result<void> write(std::span<journal_entry> entries) override {
    longest = std::max(longest, entries.size());
    written += entries.size();
    return forwarding_journal::write(entries);
  }
  result<void> sync() override {
    synced = written;
    return forwarding_journal::sync();
  }

  std::size_t written = 0, synced = 0, longest = 0;
};

struct counted_engine {
  std::shared_ptr<counting_journal> books
    = std::make_shared<counting_journal>();
  stepped_engine f;

  static constexpr auto coalesce = 50ms;
  static constexpr auto sync_after = 250ms;

  explicit counted_engine(scripted_backend::mode how
                          = scripted_backend::mode::answer)
      : f{how, with(books)} {}

  static engine_options with(std::shared_ptr<journal> books) {
    engine_options options;
    options.journal = std::move(books);
    options.ledger.coalesce = coalesce;
    options.ledger.sync_after = sync_after;
    return options;
  }
};

constexpr auto pause_before_the_next = 100ms;
constexpr auto pause_after_failure = 250ms;

/// Does not write what a test does not want it to.
class broken_journal final : public forwarding_journal {
public:
  using refusal = std::function<bool(const journal_entry&)>;

  void refuse(refusal which) { which_ = std::move(which); }
  result<void> write(std::span<journal_entry> entries) override {
    for (const auto& entry : entries)
      if (which_ && which_(entry))
        return error{code, "the disk is broken", {}, {}};
    return forwarding_journal::write(entries);
  }
  std::optional<error> write_failure() const override {
    if (which_)
      return error{code, "the disk is broken", {}, {}};
    return {};
  }

  ec code = ec::internal;

private:
  refusal which_;
};

struct broken_engine {
  std::shared_ptr<broken_journal> books = std::make_shared<broken_journal>();
  stepped_engine f{scripted_backend::mode::answer, with(books)};

  // It writes once when it begins: not in the middle of what a test does.
  broken_engine() { BOOST_REQUIRE(listed() == 0u); }

  static engine_options with(std::shared_ptr<journal> books) {
    engine_options options;
    options.journal = std::move(books);
    options.supervision.first_pause = pause_before_the_next;
    return options;
  }
  std::size_t listed() {
    answer<page<run_record>> box;
    f.engine().list_runs(someone(), "", 100, box.handle());
    auto found = f.now(box);
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
  auto refused = e.f.now(accepted);
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST((refused.error().code == ec::unavailable));
  answer<run_record> next; // behind what could not be written
  e.f.engine().submit_detached(someone(), source_run(), next.handle());
  BOOST_TEST(!e.f.now(next).has_value());
  BOOST_TEST(e.f.local->started() == 0);
  e.books->refuse({});
  answer<run_record> again;
  e.f.engine().submit_detached(someone(), source_run(), again.handle());
  e.f.settle();
  BOOST_TEST(!again.is_there());
  e.f.pass(pause_after_failure);
  BOOST_TEST(e.f.now(again).has_value());
}

BOOST_AUTO_TEST_CASE(says_that_the_disk_is_full_and_takes_what_needs_none) {
  broken_engine e;
  auto component = [&] {
    answer<engine_health> box;
    e.f.engine().health(box.handle());
    const auto found = e.f.now(box);
    BOOST_TEST_REQUIRE(found.has_value());
    BOOST_TEST(found->ready);
    for (const auto& [name, state] : found->components)
      if (name == "store" && state != "up")
        return state;
    return std::string{};
  };
  BOOST_TEST(component() == "");
  e.books->code = ec::no_space;
  e.books->refuse([](const auto&) { return true; });
  answer<run_record> accepted;
  e.f.engine().submit_detached(someone(), source_run(), accepted.handle());
  auto refused = e.f.now(accepted);
  BOOST_TEST_REQUIRE(!refused.has_value());
  BOOST_TEST((refused.error().code == ec::no_space));
  BOOST_TEST(component() == "cannot be written: disk full");
  BOOST_TEST(e.f.run(source_run()).has_value());
  e.books->refuse({});
  e.f.pass(pause_after_failure);
  BOOST_TEST(component() == "");
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
  int deaths = 0;
  e.books->refuse([&](const journal_entry& entry) {
    if (entry.run && deaths++ == 0)
      throw std::runtime_error{"a bug"};
    return false;
  });
  auto request = source_run();
  BOOST_REQUIRE(e.f.run(request).has_value());
  BOOST_TEST(e.listed() == 0u); // the question died with the ledger
  BOOST_TEST(!e.f.routes()->ledger);
  e.f.pass(pause_before_the_next);
  BOOST_TEST(!!e.f.routes()->ledger);
  BOOST_TEST(e.listed() == 1u);
}

// -- keys ---------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(looks_up_one_key_beside_a_flood_of_anothers) {
  constexpr int flood = 200;
  const std::string lonely = "org-11111111-1111-4111-8111-111111111111";
  struct noted_journal final : forwarding_journal {
    std::vector<std::string> claims;
    result<claim_outcome> claim(const key_claim& wanted,
                                const run_record&) override {
      claims.push_back(wanted.organization.str());
      return error{ec::unavailable, "only looked", {}, {}};
    }
  };
  auto books = std::make_shared<noted_journal>();
  stepped_engine f{scripted_backend::mode::answer, broken_engine::with(books)};
  auto ledger = f.routes()->ledger;
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
  f.settle();
  const auto& all = books->claims;
  BOOST_TEST(all.size() == flood + 1u);
  const auto at = std::find(all.begin(), all.end(), lonely) - all.begin();
  BOOST_TEST(at <= 66); // one batch was under way, then they take turns
}

BOOST_AUTO_TEST_CASE(writes_and_syncs_what_nobody_waits_for_a_little_later) {
  counted_engine e;
  BOOST_REQUIRE(e.f.run(source_run()).has_value());
  BOOST_TEST(e.books->written == 0u);
  e.f.pass(e.coalesce - 1ms);
  BOOST_TEST(e.books->written == 0u);
  e.f.pass(1ms);
  BOOST_TEST(e.books->written == 1u);
  e.f.pass(e.sync_after - 1ms);
  BOOST_TEST(e.books->synced == 0u);
  e.f.pass(1ms);
  BOOST_TEST(e.books->synced == 1u);
}

BOOST_AUTO_TEST_CASE(syncs_a_detached_run_before_it_is_accepted) {
  counted_engine e{scripted_backend::mode::hold};
  answer<run_record> accepted;
  e.f.engine().submit_detached(someone(), source_run(), accepted.handle());
  BOOST_REQUIRE(e.f.now(accepted).has_value());
  BOOST_TEST(e.books->synced > 0u);
  BOOST_TEST(e.f.local->held_ids().size() == 1u);
  e.f.local->release_all();
}

BOOST_AUTO_TEST_CASE(syncs_the_rest_when_it_stops) {
  counted_engine e;
  BOOST_REQUIRE(e.f.run(source_run()).has_value());
  e.f.host->stop();
  BOOST_TEST(e.books->written > 0u);
  BOOST_TEST(e.books->synced == e.books->written);
}

BOOST_AUTO_TEST_CASE(writes_a_flood_in_small_pieces) {
  counted_engine e;
  std::vector<run_answer_box> boxes(2'000);
  for (auto& box : boxes)
    e.f.engine().submit(someone(), source_run(), box.handle(), {});
  for (auto& box : boxes)
    BOOST_REQUIRE(e.f.now(box).has_value());
  e.f.host->stop();
  BOOST_TEST(e.books->written >= boxes.size());
  BOOST_TEST(e.books->longest <= 64u);
}

BOOST_AUTO_TEST_SUITE_END()
