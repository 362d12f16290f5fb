#include "storage/database/write_ahead_log.hpp"
#include "tests/storage/catalog_fixture.hpp"
#include "tests/storage/child.hpp"

using namespace troupe;
using namespace troupe::tests;

namespace {

// What a writer leaves that was killed after its last acknowledged write.
struct crashed : store_fixture {
  std::filesystem::path store = place / "crashed";
  std::filesystem::path copy = place / "copy";
  std::map<std::string, std::string> acknowledged;

  crashed() {
    close();
    child writer{"log_child/writes_and_waits", {{"STORE", store.string()}}};
    for (auto line = writer.line(); line != "done"; line = writer.line())
      acknowledged[line] = line + "-value";
    writer.kill();
  }

  std::filesystem::path log() const {
    std::filesystem::path largest;
    for (const auto& f : std::filesystem::directory_iterator{store})
      if (f.path().extension() == ".log"
          && (largest.empty()
              || f.file_size() > std::filesystem::file_size(largest)))
        largest = f.path();
    return largest;
  }

  /// Opens the copy: nothing when refused, else what it holds.
  std::optional<std::map<std::string, std::string>> read_copy() {
    database_options options;
    options.read_only = true;
    auto db = database::open(copy, options);
    if (!db)
      return {};
    return content(**db, column::tools);
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(write_ahead_log_suite, crashed)

BOOST_AUTO_TEST_CASE(finds_every_flipped_bit_of_a_log_after_a_crash) {
  auto bytes = read_file(log());
  BOOST_REQUIRE((examine_log(bytes).state == log_state::whole));
  std::mt19937_64 random{seed()};
  for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += 1 + random() % 3) {
    auto changed = bytes;
    changed[bit / 8] ^= static_cast<char>(1 << bit % 8);
    auto found = examine_log(changed);
    BOOST_REQUIRE_MESSAGE(found.state == log_state::damaged,
                          "bit " << bit << " of " << 8 * bytes.size());
  }
}

BOOST_AUTO_TEST_CASE(refuses_a_damaged_log_by_name) {
  auto bytes = read_file(log());
  std::mt19937_64 random{seed()};
  for (int round = 0; round < 40; ++round) {
    copy_directory(store, copy);
    auto changed = bytes;
    auto bit = random() % (8 * bytes.size());
    changed[bit / 8] ^= static_cast<char>(1 << bit % 8);
    write_file(copy / log().filename(), changed);
    database_options options;
    options.read_only = true;
    auto opened = database::open(copy, options);
    BOOST_REQUIRE_MESSAGE(!opened, "bit " << bit);
    BOOST_TEST(contains(text_of(opened), log().filename().string()));
    BOOST_TEST(contains(text_of(opened), "is damaged at byte"));
  }
  // The way out that has to be asked for: what lies before the damage.
  database_options repair;
  repair.accept_damaged_log = true;
  must(database::open(copy, repair));
}

BOOST_AUTO_TEST_CASE(opens_a_log_cut_at_any_length_as_a_prefix) {
  auto bytes = read_file(log());
  std::size_t before = 0;
  for (std::size_t size = 0; size <= bytes.size(); size += 13) {
    BOOST_REQUIRE(
      (examine_log(bytes.substr(0, size)).state != log_state::damaged));
    if (size % 5 != 0 && size + 13 <= bytes.size())
      continue;
    copy_directory(store, copy);
    write_file(copy / log().filename(), bytes.substr(0, size));
    auto held = read_copy();
    BOOST_REQUIRE(held);
    BOOST_REQUIRE(held->size() >= before); // the longer, the more
    before = held->size();
    // No hole: with a key, all before it are there.
    int n = 0;
    for (const auto& [key, value] : *held) {
      BOOST_REQUIRE(key == std::to_string(1000 + n++));
      BOOST_REQUIRE(value == acknowledged.at(key));
    }
  }
  copy_directory(store, copy);
  BOOST_TEST((read_copy() == acknowledged));
}

BOOST_AUTO_TEST_CASE(takes_zeros_at_the_end_for_never_written) {
  auto bytes = read_file(log());
  BOOST_TEST(
    (examine_log(bytes + std::string(100, '\0')).state == log_state::torn));
  BOOST_TEST((examine_log(bytes + "rubbish!").state == log_state::damaged));
  BOOST_TEST((examine_log("").state == log_state::whole));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(log_child, *boost::unit_test::disabled())

BOOST_AUTO_TEST_CASE(writes_and_waits) {
  auto db = must(database::open(told("STORE")));
  for (int i = 1000; i < 1060; ++i) {
    auto key = std::to_string(i);
    batch b;
    b.put(column::tools, key, key + "-value");
    must(db->write(b));
    say(key);
  }
  say("done");
  ::pause();
}

BOOST_AUTO_TEST_SUITE_END()
