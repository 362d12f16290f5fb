#include "storage/database/database.hpp"
#include "storage/database/key_codec.hpp"
#include "tests/storage/child.hpp"
#include "tests/storage/support.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <thread>

using namespace troupe;
using namespace troupe::tests;

namespace {

struct fixture {
  temporary_directory place;
  std::filesystem::path path = place / "store";
  std::shared_ptr<database> db = must(database::open(path));

  void reopen() {
    db.reset();
    db = must(database::open(path));
  }
  void put(column where, std::string key, std::string value) {
    batch b;
    b.put(where, std::move(key), std::move(value));
    must(db->write(b));
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(database_suite, fixture)

BOOST_AUTO_TEST_CASE(reads_what_was_written_after_a_restart) {
  put(column::tools, "k", "v");
  reopen();
  BOOST_TEST(must(db->get(column::tools, "k")).value() == "v");
  BOOST_TEST(!must(db->get(column::configs, "k")).has_value());
}

BOOST_AUTO_TEST_CASE(writes_a_batch_over_several_columns) {
  put(column::tools, key_codec::encode({"a", "1"}), "old");
  put(column::tools, key_codec::encode({"ab"}), "stays");
  batch b;
  b.erase_prefix(column::tools, key_codec::encode({"a"}));
  b.put(column::configs, "c", "new");
  b.put(column::meta, "gone", "x");
  b.erase(column::meta, "gone");
  must(db->write(b));
  BOOST_TEST(content(*db, column::tools).size() == 1u);
  BOOST_TEST(content(*db, column::configs).size() == 1u);
  BOOST_TEST(content(*db, column::meta).empty());
}

BOOST_AUTO_TEST_CASE(scans_a_prefix_both_ways_and_from_a_place) {
  for (auto name : {"1", "2", "3"})
    put(column::runs, key_codec::encode({"org", name}), name);
  put(column::runs, key_codec::encode({"orh", "0"}), "other");
  put(column::runs, key_codec::encode({"org"}) + "\xff\xff\xff\xff", "last");
  std::string seen;
  auto collect = [&](auto, auto value) -> result<bool> {
    seen += value;
    return value != "3";
  };
  auto prefix = key_codec::encode({"org"});
  must(db->scan(column::runs, prefix, collect));
  BOOST_TEST(seen == "123");
  seen.clear();
  must(
    db->scan(column::runs, prefix, collect, key_codec::encode({"org", "2"})));
  BOOST_TEST(seen == "23");
  seen.clear();
  must(db->scan_back(column::runs, prefix, collect));
  BOOST_TEST(seen == "last3");
}

BOOST_AUTO_TEST_CASE(hands_on_an_error_of_the_visitor) {
  put(column::runs, "k", "v");
  auto scanned = db->scan(column::runs, {}, [](auto, auto) -> result<bool> {
    return error{ec::conflict, "stop", {}, {}};
  });
  BOOST_TEST((code_of(scanned) == ec::conflict));
}

BOOST_AUTO_TEST_CASE(keeps_its_directory_to_itself) {
  struct stat about {};
  BOOST_REQUIRE(::stat(path.c_str(), &about) == 0);
  BOOST_TEST((about.st_mode & 0777) == 0700u);
}

BOOST_AUTO_TEST_CASE(names_the_process_that_holds_the_store) {
  auto second = database::open(path);
  BOOST_TEST((code_of(second) == ec::conflict));
  BOOST_TEST(
    contains(text_of(second), "process " + std::to_string(::getpid())));
  BOOST_TEST(contains(text_of(second), "troupe.lock"));
}

BOOST_AUTO_TEST_CASE(refuses_a_second_process_until_the_first_is_dead) {
  auto other = place / "other";
  child holder{"database_child/holds_a_store", {{"STORE", other.string()}}};
  BOOST_REQUIRE(holder.line() == "open");
  auto second = database::open(other);
  BOOST_TEST((code_of(second) == ec::conflict));
  BOOST_TEST(
    contains(text_of(second), "process " + std::to_string(holder.pid())));
  holder.kill();
  must(database::open(other));
}

BOOST_AUTO_TEST_CASE(reads_only_when_asked_to_and_changes_nothing) {
  put(column::tools, "k", "v");
  db.reset();
  auto before = read_file(path / "CURRENT") + read_file(path / "troupe.closed");
  database_options options;
  options.read_only = true;
  {
    auto looking = must(database::open(path, options));
    BOOST_TEST(must(looking->get(column::tools, "k")).value() == "v");
    batch b;
    b.put(column::tools, "k", "w");
    BOOST_TEST(!looking->write(b));
    // Two may look, but nobody may write meanwhile.
    must(database::open(path, options));
    BOOST_TEST((code_of(database::open(path)) == ec::conflict));
  }
  BOOST_TEST(read_file(path / "CURRENT") + read_file(path / "troupe.closed")
             == before);
}

BOOST_AUTO_TEST_CASE(purges_the_traces_of_what_it_erases) {
  const std::string trace = "a very particular text";
  put(column::meta, key_codec::encode({"gone", "1"}), trace);
  put(column::meta, key_codec::encode({"stays", "1"}), "other");
  reopen(); // into a table
  put(column::meta, key_codec::encode({"gone", "2"}),
      trace); // and into the log
  must(db->purge(column::meta, key_codec::encode({"gone"})));
  for (const auto& file : std::filesystem::directory_iterator{path})
    BOOST_TEST(!contains(read_file(file.path()), trace), file.path());
  BOOST_TEST(content(*db, column::meta).size() == 1u);
}

// RocksDB's words are lines of our log, which is bounded elsewhere.
BOOST_AUTO_TEST_CASE(keeps_no_log_file_of_its_own) {
  reopen();
  for (const auto& file : std::filesystem::directory_iterator{path})
    BOOST_TEST(!file.path().filename().string().starts_with("LOG"));
}

BOOST_AUTO_TEST_CASE(serves_many_threads) {
  std::vector<std::thread> threads;
  std::atomic<int> failed = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        auto key = key_codec::encode({std::to_string(t), std::to_string(i)});
        batch b;
        b.put(column::runs, key, key);
        failed += !db->write(b, durability::buffered);
        auto got = db->get(column::runs, key);
        failed += !got || *got != key;
        failed += !db->recover();
      }
    });
  for (auto& t : threads)
    t.join();
  BOOST_TEST(failed == 0);
  BOOST_TEST(content(*db, column::runs).size() == 200u);
}

BOOST_AUTO_TEST_CASE(refuses_a_store_that_lost_its_current_file) {
  db.reset();
  // A directory that lost its CURRENT is no empty directory.
  std::filesystem::rename(path / "CURRENT", path / "CURRENT.lost");
  auto opened = database::open(path);
  BOOST_TEST((code_of(opened) == ec::internal));
  BOOST_TEST(contains(text_of(opened), "CURRENT"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(database_child, *boost::unit_test::disabled())

BOOST_AUTO_TEST_CASE(holds_a_store) {
  auto held = must(database::open(told("STORE")));
  say("open");
  ::pause();
}

BOOST_AUTO_TEST_SUITE_END()
