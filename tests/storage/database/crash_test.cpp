// A writer is killed again and again, at random moments; what it was told to be
// kept is written down outside of it. After every kill the store must hold what
// was acknowledged, and of the change under way all or nothing.
#include "storage/catalog/catalog_load.hpp"
#include "tests/storage/catalog_fixture.hpp"
#include "tests/storage/child.hpp"

#include <chrono>
#include <set>

using namespace troupe;
using namespace troupe::tests;

namespace {

// Sanitizers make every start of a writer many times slower.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int rounds = 15;
#else
constexpr int rounds = 200;
#endif
constexpr int agents = 6;

// One change of an agent's variables: every one of them gets the same number,
// so that half a change shows as two numbers in one set.
constexpr int variables_per_agent = 4;

struct oracle {
  // By agent: the number acknowledged last, and the one that may be on its way.
  std::map<int, std::string> kept;
  std::map<int, std::string> pending;
};

// Lines of the child: "try <agent> <n>" before, "ok <agent> <n>" after.
void follow(oracle& seen, const std::string& line) {
  std::istringstream in{line};
  std::string word, number;
  int agent = 0;
  in >> word >> agent >> number;
  if (word == "try")
    seen.pending[agent] = number;
  else if (word == "ok") {
    seen.kept[agent] = number;
    seen.pending.erase(agent);
  }
}

// What lies in the files, without changing them: the next writer is the one to
// recover.
struct survivor {
  explicit survivor(const store_options& options) {
    database_options reading;
    reading.read_only = true;
    auto master = options.master;
    master.file = options.data_directory / "master.key";
    db = must(database::open(store_directory(options), reading));
    seals = must(sealer::open(db, must(key_source::open(master, false))));
    picture = must(load_catalog(*db, catalog_tables{db}));
    audit = must(audit_store::open(db, seals));
    runs = must(run_store::open(db, seals));
  }
  std::shared_ptr<database> db;
  std::shared_ptr<sealer> seals;
  catalog_ptr picture;
  std::unique_ptr<audit_store> audit;
  std::unique_ptr<run_store> runs;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(crash_suite, store_fixture)

// P13
BOOST_AUTO_TEST_CASE(loses_no_acknowledged_change_and_shows_no_half_one) {
  close();
  std::mt19937_64 random{seed()};
  oracle seen;
  int acknowledged = 0;
  int under_way = 0;
  auto started = std::chrono::steady_clock::now();
  for (int round = 0; round < rounds; ++round) {
    {
      child writer{"crash_child/writes_until_killed",
                   {{"DATA", options.data_directory.string()},
                    {"SEED", std::to_string(random())}}};
      BOOST_REQUIRE(writer.line() == "open");
      // Killed after a random number of lines, and a little more: in the
      // middle of whatever it is at then.
      for (auto lines = random() % 12; lines > 0; --lines) {
        auto line = writer.line();
        acknowledged += line.starts_with("ok");
        follow(seen, line);
      }
      auto until = std::chrono::steady_clock::now()
        + std::chrono::microseconds{random() % 2'000};
      while (std::chrono::steady_clock::now() < until) {
      }
      ::kill(writer.pid(), SIGKILL);
      // What it had said before it died counts.
      for (auto line = writer.line(); !line.empty(); line = writer.line()) {
        acknowledged += line.starts_with("ok");
        follow(seen, line);
      }
    }
    survivor now{options};
    const auto* org = now.picture->find(alice.organization);
    for (int agent = 0; agent < agents; ++agent) {
      std::set<std::string> numbers;
      std::size_t count = 0;
      if (org)
        if (auto i = org->agent_variables.find(std::to_string(agent));
            i != org->agent_variables.end())
          for (const auto& [key, v] : i->second) {
            numbers.insert(must(now.seals->open(*v)).reveal());
            ++count;
          }
      BOOST_REQUIRE_MESSAGE(numbers.size() <= 1,
                            "round " << round << ": half a change");
      BOOST_REQUIRE(count == 0 || count == variables_per_agent);
      auto is = numbers.empty() ? std::string{} : *numbers.begin();
      auto last = seen.kept.contains(agent) ? seen.kept[agent] : std::string{};
      bool may_be = seen.pending.contains(agent) && seen.pending[agent] == is;
      BOOST_REQUIRE_MESSAGE(is == last || may_be,
                            "round " << round << ": agent " << agent << " has '"
                                     << is << "', acknowledged was '" << last
                                     << "'");
      under_way += is != last;
      // From here on this is what must stay.
      if (is != last)
        seen.kept[agent] = is;
    }
    seen.pending.clear();
    must(now.audit->verify_all());
    // Lists and gets agree.
    auto runs = must(now.runs->list(alice.organization, "", 10));
    for (const auto& r : runs.items)
      must(now.runs->find(alice.organization, r.id));
  }
  auto took = std::chrono::duration_cast<std::chrono::seconds>(
    std::chrono::steady_clock::now() - started);
  BOOST_TEST_MESSAGE(rounds << " kills, " << acknowledged
                            << " acknowledged changes, " << under_way
                            << " kept though not acknowledged, " << took.count()
                            << " s");
  BOOST_TEST(acknowledged > rounds);
  open();
  must(kept.catalog->verify());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(crash_child, *boost::unit_test::disabled())

BOOST_AUTO_TEST_CASE(writes_until_killed) {
  store_options options;
  options.data_directory = told("DATA");
  options.master.lookup = [](const std::string&) { return std::nullopt; };
  auto kept = must(open_store(options));
  author alice{organization_id{"org-a"}, user_id{"user-a"}};
  std::mt19937_64 random{std::stoull(told("SEED"))};
  say("open");
  for (;;) {
    auto agent = std::to_string(random() % agents);
    auto number = std::to_string(random());
    put_agent_variables change;
    change.agent_id = agent;
    for (int i = 0; i < variables_per_agent; ++i)
      change.values.emplace("V" + std::to_string(i), secret{number});
    say("try " + agent + " " + number);
    must(kept.catalog->apply(alice, change, at(0)));
    say("ok " + agent + " " + number);
    must(kept.audit->append(alice.organization, {{"n", number}}, at(0),
                            durability::buffered));
    run_record r;
    r.id = run_id::make();
    r.organization = alice.organization;
    r.created_at = at(0);
    must(kept.runs->put(r, durability::buffered));
  }
}

BOOST_AUTO_TEST_SUITE_END()
