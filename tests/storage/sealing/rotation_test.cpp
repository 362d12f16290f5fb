#include "tests/storage/child.hpp"
#include "tests/storage/sealing/sealer_fixture.hpp"

#include <atomic>
#include <thread>

using namespace troupe;
using namespace troupe::tests;

BOOST_FIXTURE_TEST_SUITE(sealer_rotation, sealer_fixture)

BOOST_AUTO_TEST_CASE(rotates_the_master_key_while_values_are_used) {
  std::map<std::string, std::string> sealed;
  for (int i = 0; i < 150; ++i) {
    auto org = "org-" + std::to_string(i);
    sealed[org] = seal(config_place(organization_id{org}), org);
  }
  auto old = seals->master_id();
  std::vector<std::string> steps;
  int made = 0;
  must(seals->rotate_master(
    must(master_key::make(system_random())), [&](const rotation_progress& p) {
      if (steps.empty() || steps.back() != p.step)
        steps.push_back(p.step);
      for (const auto& [org, text] : sealed)
        BOOST_REQUIRE(open(config_place(organization_id{org}), text) == org);
      auto org = "org-new-" + std::to_string(made++);
      sealed[org] = seal(config_place(organization_id{org}), org);
    }));
  std::vector<std::string> expected{"added", "announced", "rewrapped",
                                    "switched", "dropped"};
  BOOST_TEST(steps == expected, boost::test_tools::per_element());
  BOOST_TEST(seals->master_id() != old);
  BOOST_TEST(masters_in_use().size() == 1u);
  BOOST_TEST(masters_in_use().contains(seals->master_id()));
  reopen();
  for (const auto& [org, text] : sealed)
    BOOST_REQUIRE(open(config_place(organization_id{org}), text) == org);
  BOOST_TEST(std::filesystem::file_size(file) == 65u); // the old key is gone
}

BOOST_AUTO_TEST_CASE(refuses_a_second_rotation_meanwhile) {
  seal(config_place(), "x");
  std::atomic<int> conflicts = 0;
  must(seals->rotate_master(
    must(master_key::make(system_random())), [&](const rotation_progress& p) {
      if (p.step != "announced")
        return;
      std::thread other{[&] {
        auto second = seals->rotate_master(*master_key::make(system_random()));
        conflicts += !second && second.error().code == ec::conflict;
      }};
      other.join();
    }));
  BOOST_TEST(conflicts == 1);
}

BOOST_AUTO_TEST_CASE(rotates_an_operators_key_once_both_are_given) {
  temporary_directory elsewhere;
  auto first = must(master_key::make(system_random())).to_text().reveal();
  auto second = must(master_key::make(system_random())).to_text().reveal();
  auto start = [&](const std::string& given) {
    master_key_options options;
    options.lookup
      = [given](const std::string& name) -> std::optional<std::string> {
      return name == "TROUPE_MASTER_KEY" ? std::optional{given} : std::nullopt;
    };
    return sealer::open(must(database::open(elsewhere / "store")),
                        must(key_source::open(options, false)));
  };
  std::string sealed;
  {
    auto s = must(start(first));
    sealed = must(s->seal(config_place(), secret{"x"}, 1));
    auto early = s->rotate_master(must(master_key::parse(second)));
    BOOST_TEST((code_of(early) == ec::conflict));
  }
  must(must(start(first + "," + second))
         ->rotate_master(must(master_key::parse(second))));
  BOOST_TEST((code_of(start(first)) == ec::denied));
  auto s = must(start(second));
  BOOST_TEST(must(s->open(config_place(), sealed)).reveal() == "x");
}

// P10
BOOST_AUTO_TEST_CASE(finishes_a_rotation_that_was_killed_at_any_step) {
  std::map<std::string, std::string> sealed;
  for (int i = 0; i < 130; ++i) { // three batches
    auto org = "org-" + std::to_string(i);
    sealed[org] = seal(config_place(organization_id{org}), org);
  }
  seals.reset();
  db.reset();
  auto original = place / "original";
  std::filesystem::create_directory(original);
  copy_directory(path, original / "store");
  std::filesystem::copy_file(file, original / "master.key");
  auto old_id = must(master_key::parse(read_file(file).substr(0, 64))).id;
  bool finished = false;
  for (int step = 0; !finished; ++step) {
    BOOST_REQUIRE(step < 20);
    copy_directory(original / "store", path);
    std::filesystem::copy_file(
      original / "master.key", file,
      std::filesystem::copy_options::overwrite_existing);
    child rotating{"sealer_child/rotates_and_dies",
                   {{"STORE", path.string()},
                    {"KEY_FILE", file.string()},
                    {"STEP", std::to_string(step)}}};
    auto code = rotating.wait();
    BOOST_REQUIRE((code == 0 || code == -SIGKILL));
    finished = code == 0;
    reopen(); // finishes
    BOOST_TEST_CONTEXT("killed at step " << step) {
      for (const auto& [org, text] : sealed)
        BOOST_REQUIRE(open(config_place(organization_id{org}), text) == org);
      // Before the announcement nothing has happened: the old key is in use.
      BOOST_TEST((seals->master_id() == old_id) == (step == 0));
      BOOST_TEST(masters_in_use().size() == 1u);
      auto record = must(read_master_record(*db));
      BOOST_TEST(record.next == "");
      BOOST_TEST(record.retired.empty());
    }
    seals.reset();
    db.reset();
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(sealer_child, *boost::unit_test::disabled())

BOOST_AUTO_TEST_CASE(rotates_and_dies) {
  auto db = must(database::open(told("STORE")));
  auto seals = open_sealer(db, told("KEY_FILE"));
  auto left = std::stoi(told("STEP"));
  must(seals->rotate_master(must(master_key::make(system_random())),
                            [&](const rotation_progress&) {
                              if (left-- == 0)
                                ::kill(::getpid(), SIGKILL);
                            }));
}

BOOST_AUTO_TEST_SUITE_END()
