#include "tests/storage/sealing/sealer_fixture.hpp"

#include <atomic>
#include <thread>

using namespace troupe;
using namespace troupe::tests;

BOOST_FIXTURE_TEST_SUITE(sealer_suite, sealer_fixture)

BOOST_AUTO_TEST_CASE(opens_what_it_sealed_also_after_a_restart) {
  auto sealed = seal(config_place(), "hunter2");
  BOOST_TEST(!contains(sealed, "hunter2"));
  BOOST_TEST(open(config_place(), sealed) == "hunter2");
  reopen();
  BOOST_TEST(open(config_place(), sealed) == "hunter2");
  BOOST_TEST(open(config_place(), seal(config_place(), "")) == "");
}

// P10
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

// P10
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
  BOOST_TEST(contains(text_of(wrong), "use the right key"));
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
      return error{ec::internal, "no random numbers", {}, {}};
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
  clear.erase_prefix(column::meta, key_codec::encode_global({}));
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

BOOST_AUTO_TEST_SUITE_END()
