// Bits flipped and ends cut off in the files of a store that was closed in good
// order: always told by name or, where a byte means nothing, without effect;
// never a wrong value.
#include "tests/storage/catalog_fixture.hpp"

using namespace troupe;
using namespace troupe::tests;

namespace {

struct fixture {
  temporary_directory place;
  std::filesystem::path path = place / "store";
  std::filesystem::path copy = place / "copy";
  std::map<std::string, std::string> expected;

  fixture() {
    for (int round = 0; round < 3; ++round) { // several tables
      auto db = must(database::open(path));
      batch b;
      for (int i = 0; i < 200; ++i) {
        auto key = std::to_string(1000 * round + i);
        expected[key] = std::string(50, 'v') + key;
        b.put(column::tools, key, expected[key]);
      }
      must(db->write(b));
    }
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& f : std::filesystem::directory_iterator{path}) {
      auto name = f.path().filename().string();
      if (name != "LOCK" && name != "troupe.lock" && !name.starts_with("LOG"))
        names.push_back(name);
    }
    return names;
  }

  /// What the damage led to: the error's text, or "" when all reads well.
  std::string damage(const std::string& name, const std::string& bytes) {
    copy_directory(path, copy);
    write_file(copy / name, bytes);
    auto db = database::open(copy);
    if (!db)
      return to_string(db.error());
    if (auto verified = (*db)->verify(); !verified)
      return to_string(verified.error());
    std::map<std::string, std::string> all;
    auto scanned = (*db)->scan(column::tools, {},
                               [&](auto key, auto value) -> result<bool> {
                                 all.emplace(key, value);
                                 return true;
                               });
    if (!scanned)
      return to_string(scanned.error());
    BOOST_REQUIRE_MESSAGE(all == expected, name << " served wrong");
    return {};
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(corruption_suite, fixture)

// P13
BOOST_AUTO_TEST_CASE(never_serves_what_a_flipped_bit_made) {
  std::mt19937_64 random{seed()};
  int silent = 0;
  for (const auto& name : files()) {
    auto bytes = read_file(path / name);
    if (bytes.empty())
      continue;
    bool is_table = name.ends_with(".sst");
    for (int round = 0; round < (is_table ? 12 : 6); ++round) {
      auto changed = bytes;
      auto bit = random() % (8 * bytes.size());
      changed[bit / 8] ^= static_cast<char>(1 << bit % 8);
      auto text = damage(name, changed);
      if (text.empty()) {
        // Padding of a table's footer; all else is listed with its hash.
        BOOST_TEST(is_table, name << " bit " << bit << " went unnoticed");
        ++silent;
      } else if (name != "troupe.closed") {
        BOOST_TEST(contains(text, name), text);
      }
    }
  }
  BOOST_TEST_MESSAGE("flips without effect: " << silent);
}

BOOST_AUTO_TEST_CASE(notices_every_file_that_was_cut_short) {
  std::mt19937_64 random{seed()};
  for (const auto& name : files()) {
    auto bytes = read_file(path / name);
    for (int round = 0; round < 3 && !bytes.empty(); ++round) {
      auto size = round == 0 ? bytes.size() - 1 : random() % bytes.size();
      auto text = damage(name, bytes.substr(0, size));
      BOOST_TEST(text != "", name << " cut to " << size << " went unnoticed");
      if (name != "troupe.closed")
        BOOST_TEST(contains(text, name), text);
    }
  }
}

BOOST_AUTO_TEST_CASE(notices_every_file_that_is_gone) {
  for (const auto& name : files()) {
    if (name == "troupe.closed")
      continue; // without the list a start is as after a crash
    copy_directory(path, copy);
    std::filesystem::remove(copy / name);
    auto opened = database::open(copy);
    BOOST_REQUIRE_MESSAGE(!opened, name << " is gone unnoticed");
    BOOST_TEST(contains(text_of(opened), name));
  }
}

// The same after a crash, without the list of files to help.
BOOST_AUTO_TEST_CASE(notices_flips_in_tables_and_manifest_without_the_list) {
  std::mt19937_64 random{seed()};
  std::filesystem::remove(path / "troupe.closed");
  for (const auto& name : files()) {
    if (!name.ends_with(".sst") && !name.starts_with("MANIFEST-")
        && name != "CURRENT")
      continue;
    auto bytes = read_file(path / name);
    for (int round = 0; round < 10; ++round) {
      auto changed = bytes;
      auto bit = random() % (8 * bytes.size());
      changed[bit / 8] ^= static_cast<char>(1 << bit % 8);
      auto text = damage(name, changed);
      if (!name.ends_with(".sst"))
        BOOST_TEST(text != "", name << " bit " << bit << " went unnoticed");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
