#include "storage/keys.hpp"
#include "storage/sealing/sealer.hpp"
#include "tests/storage/child.hpp"
#include "tests/storage/support.hpp"

#include <atomic>
#include <thread>

using namespace troupe;
using namespace troupe::tests;

namespace {

const organization_id org_a{"org-a"};
const organization_id org_b{"org-b"};

sealed_place config_place(const organization_id& org = org_a,
                          std::string owner = "sandbox-1",
                          std::string_view name = "TOKEN") {
  return {org, sealed_kind::config_variable, std::move(owner), name};
}

std::shared_ptr<sealer> open_sealer(std::shared_ptr<database> db,
                                    const std::filesystem::path& file) {
  master_key_options options;
  options.file = file;
  options.lookup = [](const std::string&) { return std::nullopt; };
  return must(sealer::open(db, must(key_source::open(options, true))));
}

struct fixture {
  temporary_directory place;
  std::filesystem::path path = place / "store";
  std::filesystem::path file = place / "master.key";
  std::shared_ptr<database> db = must(database::open(path));
  std::shared_ptr<sealer> seals = open_sealer(db, file);

  void reopen() {
    seals.reset();
    db.reset();
    db = must(database::open(path));
    seals = open_sealer(db, file);
  }
  std::string seal(const sealed_place& where, const std::string& text) {
    return must(seals->seal(where, secret{text}, 1));
  }
  std::string open(const sealed_place& where, const std::string& sealed) {
    return must(seals->open(where, sealed)).reveal();
  }
  std::map<std::string, int> masters_in_use() {
    std::map<std::string, int> count;
    must(each_wrapped_key(*db, [&](wrapped_key w) -> result<void> {
      ++count[w.master];
      return {};
    }));
    return count;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(sealer_suite, fixture)

BOOST_AUTO_TEST_CASE(opens_what_it_sealed_also_after_a_restart) {
  auto sealed = seal(config_place(), "hunter2");
  BOOST_TEST(!contains(sealed, "hunter2"));
  BOOST_TEST(open(config_place(), sealed) == "hunter2");
  reopen();
  BOOST_TEST(open(config_place(), sealed) == "hunter2");
  BOOST_TEST(open(config_place(), seal(config_place(), "")) == "");
}

BOOST_AUTO_TEST_CASE(refuses_every_flipped_bit_and_every_length) {
  auto sealed = seal(config_place(), "hunter2");
  for (std::size_t bit = 0; bit < 8 * sealed.size(); ++bit) {
    auto changed = sealed;
    changed[bit / 8] ^= static_cast<char>(1 << bit % 8);
    BOOST_REQUIRE(
      (code_of(seals->open(config_place(), changed)) == ec::denied));
  }
  for (std::size_t size = 0; size < sealed.size(); ++size)
    BOOST_REQUIRE((code_of(seals->open(config_place(), sealed.substr(0, size)))
                   == ec::denied));
  BOOST_TEST(!seals->open(config_place(), sealed + "x"));
  BOOST_TEST(open(config_place(), sealed) == "hunter2");
}

BOOST_AUTO_TEST_CASE(opens_a_value_at_its_own_place_only) {
  auto sealed = seal(config_place(), "hunter2");
  seal(config_place(org_b), "makes the other tenant's key");
  BOOST_TEST(!seals->open(config_place(org_b), sealed));
  BOOST_TEST(!seals->open(config_place(org_a, "sandbox-2"), sealed));
  BOOST_TEST(!seals->open(config_place(org_a, "sandbox-1", "OTHER"), sealed));
  auto agent = config_place();
  agent.kind = sealed_kind::agent_variable;
  BOOST_TEST(!seals->open(agent, sealed));
  // Same bytes in a row, other borders.
  BOOST_TEST(!seals->open(config_place(org_a, "sandbox-1T", "OKEN"), sealed));
}

BOOST_AUTO_TEST_CASE(makes_a_key_per_organization_when_it_is_needed) {
  BOOST_TEST(seals->data_key_versions(org_a).empty());
  seal(config_place(), "x");
  BOOST_TEST(seals->data_key_versions(org_a).size() == 1u);
  BOOST_TEST(seals->data_key_versions(org_b).empty());
  BOOST_TEST(!seals->seal(config_place(organization_id{}), secret{"x"}, 1));
}

BOOST_AUTO_TEST_CASE(makes_one_key_when_many_ask_at_once) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        organization_id org{"org-" + std::to_string(i)};
        auto sealed = seals->seal(config_place(org), secret{"x"}, 1);
        wrong += !sealed || !seals->open(config_place(org), *sealed);
      }
    });
  for (auto& t : threads)
    t.join();
  BOOST_TEST(wrong == 0);
  reopen();
  BOOST_TEST(masters_in_use()[seals->master_id()] == 21); // and the digest key
}

BOOST_AUTO_TEST_CASE(refuses_a_wrong_master_key_and_writes_nothing) {
  auto sealed = seal(config_place(), "hunter2");
  seals.reset();
  auto before = content(*db, column::meta);
  auto right = read_file(file);
  std::filesystem::remove(file);
  master_key_options options;
  options.file = file;
  options.lookup = [](const std::string&) { return std::nullopt; };
  auto wrong = sealer::open(db, must(key_source::open(options, true)));
  BOOST_TEST((code_of(wrong) == ec::denied));
  BOOST_TEST(contains(text_of(wrong), "give the right key"));
  BOOST_TEST(contains(text_of(wrong), file.string()));
  BOOST_TEST((content(*db, column::meta) == before));
  write_file(file, right);
  seals = open_sealer(db, file);
  BOOST_TEST(open(config_place(), sealed) == "hunter2");
}

BOOST_AUTO_TEST_CASE(refuses_a_changed_check_value_or_wrapped_key) {
  seal(config_place(), "x");
  seals.reset();
  auto all = content(*db, column::meta);
  for (const auto& [key, value] : all) {
    batch change;
    auto changed = value;
    changed.back() ^= 1;
    change.put(column::meta, key, changed);
    must(db->write(change));
    master_key_options options;
    options.file = file;
    auto opened = sealer::open(db, must(key_source::open(options, false)));
    BOOST_TEST((code_of(opened) == ec::denied));
    batch back;
    back.put(column::meta, key, value);
    must(db->write(back));
  }
  open_sealer(db, file);
}

BOOST_AUTO_TEST_CASE(refuses_a_data_key_that_was_moved_to_another_tenant) {
  seal(config_place(org_a), "x");
  seal(config_place(org_b), "y");
  seals.reset();
  std::map<std::string, wrapped_key> wrapped;
  must(each_wrapped_key(*db, [&](wrapped_key w) -> result<void> {
    wrapped.emplace(w.organization.str(), w);
    return {};
  }));
  batch swap;
  swap.put(column::meta, wrapped.at("org-a").key(),
           wrapped.at("org-b").value());
  must(db->write(swap));
  master_key_options options;
  options.file = file;
  auto opened = sealer::open(db, must(key_source::open(options, false)));
  BOOST_TEST((code_of(opened) == ec::denied));
}

BOOST_AUTO_TEST_CASE(fails_without_randomness_and_keeps_nothing) {
  std::atomic<int> left = 1'000;
  auto failing = [&](std::span<std::uint8_t> out) -> result<void> {
    if (left-- <= 0)
      return error{ec::internal, "no randomness", {}, {}};
    return system_random()(out);
  };
  master_key_options options;
  options.file = file;
  // Whichever draw fails: an error, never a value sealed with less.
  for (int n = 0; n < 3; ++n) {
    left = 1'000;
    auto s
      = must(sealer::open(db, must(key_source::open(options, false)), failing));
    left = n;
    organization_id org{"org-" + std::to_string(n)};
    auto sealed = s->seal(config_place(org), secret{"x"}, 1);
    BOOST_TEST((code_of(sealed) == ec::internal));
  }
  left = 0;
  batch clear;
  clear.erase_prefix(column::meta, keys::spell_global({}));
  must(db->write(clear));
  BOOST_TEST(
    !sealer::open(db, must(key_source::open(options, false)), failing));
  BOOST_TEST(must(read_master_record(*db)).current.empty());
}

BOOST_AUTO_TEST_CASE(forgets_an_organization_for_good) {
  auto mine = seal(config_place(org_a), "mine");
  auto other = seal(config_place(org_b), "other");
  std::string wrapped;
  must(each_wrapped_key(*db, [&](wrapped_key w) -> result<void> {
    if (w.organization == org_a)
      wrapped = w.text;
    return {};
  }));
  reopen();
  must(seals->forget(org_a));
  BOOST_TEST((code_of(seals->open(config_place(org_a), mine)) == ec::denied));
  BOOST_TEST(open(config_place(org_b), other) == "other");
  for (const auto& f : std::filesystem::directory_iterator{path})
    BOOST_TEST(!contains(read_file(f.path()), wrapped), f.path());
  // The organization may come back; its old values do not.
  auto again = seal(config_place(org_a), "again");
  BOOST_TEST(!seals->open(config_place(org_a), mine));
  reopen();
  BOOST_TEST(open(config_place(org_a), again) == "again");
}

BOOST_AUTO_TEST_CASE(renews_a_data_key_and_opens_what_the_old_one_sealed) {
  auto old = seal(config_place(), "old");
  BOOST_TEST(must(seals->renew_data_key(org_a)) == 2u);
  auto fresh = seal(config_place(), "new");
  BOOST_TEST(must(read_sealed_header(old)).key_version == 1u);
  BOOST_TEST(must(read_sealed_header(fresh)).key_version == 2u);
  reopen();
  BOOST_TEST(open(config_place(), old) == "old");
  BOOST_TEST(open(config_place(), fresh) == "new");
  BOOST_TEST(seals->unfinished_renewals().size() == 1u);
  BOOST_TEST((code_of(seals->retire_data_key(org_a, 2)) == ec::conflict));
  must(seals->retire_data_key(org_a, 1));
  BOOST_TEST(open(config_place(), old) == "old"); // for readers of the moment
  reopen();
  BOOST_TEST((code_of(seals->open(config_place(), old)) == ec::denied));
  BOOST_TEST(open(config_place(), fresh) == "new");
  BOOST_TEST(seals->unfinished_renewals().empty());
}

BOOST_AUTO_TEST_CASE(digests_with_a_key) {
  auto digest = seals->digest(org_a, "cache", "text");
  BOOST_TEST(digest.size() == 64u);
  BOOST_TEST(digest == seals->digest(org_a, "cache", "text"));
  BOOST_TEST(digest != seals->digest(org_b, "cache", "text"));
  BOOST_TEST(digest != seals->digest(org_a, "other", "text"));
  BOOST_TEST(digest != seals->digest(org_a, "cache", "texts"));
  must(seals->rotate_master(must(master_key::make(system_random()))));
  reopen();
  BOOST_TEST(digest == seals->digest(org_a, "cache", "text"));
  temporary_directory elsewhere;
  auto other = open_sealer(must(database::open(elsewhere / "store")),
                           elsewhere / "master.key");
  BOOST_TEST(digest != other->digest(org_a, "cache", "text"));
}

// -- rotation ----------------------------------------------------------------

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
