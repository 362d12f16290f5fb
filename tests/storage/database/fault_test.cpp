// Disks that fill up, fail and forget.
#include "storage/database/rocksdb_options.hpp"
#include "tests/storage/catalog_fixture.hpp"
#include "tests/storage/child.hpp"
#include "tests/storage/database/fault_filesystem.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

using namespace troupe;
using namespace troupe::tests;

namespace {

struct fixture {
  temporary_directory place;
  std::filesystem::path path = place / "store";
  std::shared_ptr<fault_filesystem> disk = std::make_shared<fault_filesystem>();
  std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(disk);
  database_options options;
  std::shared_ptr<database> db;

  fixture() {
    options.heal_every = std::chrono::milliseconds{0};
    options.cache_bytes = 0; // every read goes to the disk
    open();
  }
  ~fixture() {
    disk->full = disk->sync_fails = disk->read_fails = false;
    db.reset();
  }
  void open() { db = must(database_access::open(path, options, env.get())); }
  result<void> put(const std::string& key,
                   durability how = durability::synced) {
    batch b;
    b.put(column::tools, key, key);
    return db->write(b, how);
  }
  bool has(const std::string& key) {
    return must(db->get(column::tools, key)).has_value();
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(fault_suite, fixture)

BOOST_AUTO_TEST_CASE(reads_on_when_the_disk_is_full_and_recovers_by_itself) {
  must(put("before"));
  disk->full = true;
  auto refused = put("full");
  BOOST_TEST((code_of(refused) == ec::no_space));
  BOOST_TEST(contains(text_of(refused), "the disk is full"));
  auto again = put("full");
  BOOST_TEST((code_of(again) == ec::no_space));
  BOOST_TEST(contains(text_of(again), "read-only at the moment"));
  BOOST_TEST((code_of(db->recover()) == ec::no_space));
  BOOST_TEST(has("before"));
  BOOST_TEST(!has("full"));
  auto generation = db->generation();
  disk->full = false;
  must(db->recover());
  BOOST_TEST(!db->write_failure());
  BOOST_TEST(db->generation() > generation);
  must(put("after"));
  db.reset();
  open();
  BOOST_TEST(has("before"));
  BOOST_TEST(!has("full"));
  BOOST_TEST(has("after"));
}

BOOST_AUTO_TEST_CASE(recovers_when_the_very_first_write_met_a_full_disk) {
  disk->full = true;
  BOOST_TEST((code_of(put("first")) == ec::no_space));
  disk->full = false;
  must(db->recover());
  must(put("second"));
  BOOST_TEST(has("second"));
}

BOOST_AUTO_TEST_CASE(reads_on_when_the_disk_fails_again_while_it_recovers) {
  must(put("before"));
  disk->sync_fails = true;
  BOOST_TEST(!put("x"));
  disk->sync_fails = false;
  disk->files_left = 1; // enough for the probe, not for a new start
  auto generation = db->generation();
  BOOST_TEST((code_of(db->recover()) == ec::no_space));
  BOOST_TEST(has("before"));
  BOOST_TEST(db->generation() == generation);
  disk->files_left = 1'000'000;
  must(db->recover());
  must(put("after"));
  BOOST_TEST(has("before"));
}

BOOST_AUTO_TEST_CASE(takes_a_failed_sync_for_final_until_it_has_looked) {
  must(put("before"));
  disk->sync_fails = true;
  auto failed = put("unknown");
  BOOST_TEST((code_of(failed) == ec::timeout)); // it may be there
  disk->sync_fails = false;
  // The disk is well again, but the write was never said to have happened, and
  // none is taken until heal has opened anew.
  BOOST_TEST(!put("too early"));
  BOOST_TEST(has("before"));
  must(db->recover());
  must(put("after"));
  BOOST_TEST(has("before"));
  BOOST_TEST(has("after"));
  BOOST_TEST(!has("too early"));
  auto held = has("unknown");
  db.reset();
  open();
  BOOST_TEST(has("unknown") == held); // and it stays so
  BOOST_TEST(has("after"));
}

BOOST_AUTO_TEST_CASE(tells_a_failed_read_and_goes_on) {
  must(put("key"));
  db.reset();
  open(); // into a table
  disk->read_fails = true;
  auto failed = db->get(column::tools, "key");
  BOOST_TEST((code_of(failed) == ec::unavailable));
  disk->read_fails = false;
  BOOST_TEST(has("key"));
}

// P13
BOOST_AUTO_TEST_CASE(keeps_every_synced_write_when_the_power_fails) {
  std::mt19937_64 random{seed()};
  std::vector<std::string> acknowledged;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 20; ++i) {
      auto key = std::to_string(round) + "-" + std::to_string(i);
      auto how = random() % 4 == 0 ? durability::synced : durability::buffered;
      must(put(key, how));
      if (how == durability::synced)
        acknowledged.push_back(key);
    }
    must(put("last-" + std::to_string(round)));
    acknowledged.push_back("last-" + std::to_string(round));
    must(put("lost-" + std::to_string(round), durability::buffered));
    auto after = place / "after";
    copy_directory(path, after);
    disk->lose_unsynced(after);
    auto survivor = must(database::open(after));
    for (const auto& key : acknowledged)
      BOOST_REQUIRE(must(survivor->get(column::tools, key)).has_value());
    // The test can fail: what was only buffered is gone.
    auto lost = "lost-" + std::to_string(round);
    BOOST_TEST(!must(survivor->get(column::tools, lost)).has_value());
  }
}

BOOST_AUTO_TEST_CASE(keeps_catalog_and_store_the_same_after_an_unknown_write) {
  master_key_options master;
  master.file = place / "master.key";
  master.lookup = [](const std::string&) { return std::nullopt; };
  auto seals = must(sealer::open(db, must(key_source::open(master, true))));
  auto catalog = must(catalog_store::open(db, seals));
  author alice{organization_id{"org-a"}, user_id{"user-a"}};
  must(catalog->apply(alice, put_tool{make_tool("one")}, at(1)));
  int round = 0;
  for (auto* fault : {&disk->sync_fails, &disk->full}) {
    *fault = true;
    auto name = "two-" + std::to_string(++round);
    BOOST_TEST(!catalog->apply(alice, put_tool{make_tool(name)}, at(2)));
    // What is published is what was acknowledged.
    BOOST_TEST(catalog->current()->find(alice.organization)->tools.size()
               >= 1u);
    *fault = false;
    auto reply
      = must(catalog->apply(alice, put_tool{make_tool("three"), false}, at(3)));
    BOOST_TEST(reply.tool->name == "three");
    tool_store tools{db};
    auto stored = must(tools.list(alice.organization, "", 50)).items.size();
    BOOST_TEST(catalog->current()->find(alice.organization)->tools.size()
               == stored);
    auto version = catalog->current()->version;
    must(catalog->apply(
      alice, put_tool{make_tool("four", std::to_string(version))}, at(4)));
    BOOST_TEST(catalog->current()->version > version);
  }
}

// A real full disk: a small tmpfs in a mount namespace of its own.
BOOST_AUTO_TEST_CASE(lives_through_a_really_full_disk) {
  auto mounted = place / "tmpfs";
  std::filesystem::create_directory(mounted);
  child full{"fault_child/fills_a_disk", {{"MOUNT", mounted.string()}}};
  auto said = full.line();
  if (said == "no mount") {
    BOOST_TEST_MESSAGE("this host lets nobody mount a tmpfs");
    return;
  }
  BOOST_TEST(said == "refused no_space");
  BOOST_TEST(full.line() == "reads on");
  BOOST_TEST(full.line() == "writes again");
  BOOST_TEST(full.line() == "all there");
  BOOST_TEST(full.wait() == 0);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(fault_child, *boost::unit_test::disabled())

BOOST_AUTO_TEST_CASE(fills_a_disk) {
  std::filesystem::path mounted = told("MOUNT");
  bool apart = ::unshare(CLONE_NEWNS) == 0
    || ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
  if (!apart
      || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0
      || ::mount("tmpfs", mounted.c_str(), "tmpfs", 0, "size=48m") != 0) {
    say("no mount");
    return;
  }
  database_options options;
  options.heal_every = std::chrono::milliseconds{0};
  options.memtable_bytes = 4u << 20; // RocksDB reserves as much for its log
  auto db = must(database::open(mounted / "store", options));
  auto ballast = mounted / "ballast";
  write_file(ballast, std::string(24u << 20, 'b'));
  std::size_t count = 0;
  result<void> written;
  for (; written && count < 10'000; ++count) {
    batch b;
    b.put(column::tools, std::to_string(count), std::string(16u << 10, 'x'));
    written = db->write(b);
  }
  --count; // the last one was refused
  if (written || written.error().code == ec::no_space)
    say(written ? "refused nothing" : "refused no_space");
  else
    say("refused " + to_string(written.error()));
  say(must(db->get(column::tools, "0")).has_value() ? "reads on"
                                                    : "reads no more");
  std::filesystem::remove(ballast);
  must(db->recover());
  batch b;
  b.put(column::tools, "after", "x");
  must(db->write(b));
  say("writes again");
  db.reset();
  db = must(database::open(mounted / "store", options));
  auto all = content(*db, column::tools);
  say(all.size() == count + 1 && all.contains("after") ? "all there"
                                                       : "lost some: "
          + std::to_string(all.size()) + " of " + std::to_string(count + 1));
}

BOOST_AUTO_TEST_SUITE_END()
