// Backups: closed to others, and a list that a stranger wrote leads nowhere.
#include "runtime/base/digest.hpp"
#include "storage/database/manifest.hpp"
#include "tests/storage/catalog_fixture.hpp"

#include <sys/stat.h>

using namespace troupe;
using namespace troupe::tests;

namespace {

struct backup_fixture : store_fixture {
  std::filesystem::path backup = place / "backup";
  std::filesystem::path restored = place / "restored" / "store";

  void make() {
    change(alice, put_variable{config(alice), "K", secret{"v"}, ""});
    must(create_backup(*kept.db, backup));
  }
  std::filesystem::path list() { return backup / "troupe.backup"; }
  /// The list as it would be with this line more, its own hash included.
  void add_to_list(const std::string& name) {
    auto text = read_file(list());
    text.resize(text.rfind("end "));
    text += "- 7 " + name + "\n";
    write_list(text);
  }
  void write_list(const std::string& lines) {
    write_file(list(), lines + "end " + hex(sha256(lines)) + "\n");
  }
  std::filesystem::path one_table() {
    for (const auto& f : std::filesystem::directory_iterator{backup})
      if (f.path().extension() == ".sst")
        return f.path();
    BOOST_FAIL("no table");
    return {};
  }
  void refuses(const std::string& reason) {
    auto done = restore_backup(backup, restored);
    BOOST_TEST_REQUIRE(!done);
    BOOST_TEST(contains(done.error().text, reason), done.error().text);
    BOOST_TEST(!std::filesystem::exists(restored));
    BOOST_TEST(!std::filesystem::exists(restored.string() + ".restoring"));
  }
};

unsigned mode_of(const std::filesystem::path& path) {
  struct stat about {};
  BOOST_REQUIRE(::lstat(path.c_str(), &about) == 0);
  return about.st_mode & 07777;
}

/// What is open to others, below and including `root`.
std::vector<std::string> open_ones(const std::filesystem::path& root) {
  std::vector<std::string> open;
  auto look = [&](const std::filesystem::path& path) {
    if (mode_of(path) & 077)
      open.push_back(path.string());
  };
  look(root);
  for (const auto& f : std::filesystem::recursive_directory_iterator{root})
    look(f.path());
  return open;
}

struct with_umask {
  explicit with_umask(mode_t mask) : before{::umask(mask)} {}
  ~with_umask() { ::umask(before); }
  mode_t before;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(backups, backup_fixture)

BOOST_AUTO_TEST_CASE(are_closed_to_others_whatever_the_umask) {
  const std::vector<std::string> none;
  for (mode_t mask : {0, 022, 077}) {
    const with_umask now{mask};
    close();
    std::filesystem::remove_all(options.data_directory);
    std::filesystem::remove_all(backup);
    std::filesystem::remove_all(restored.parent_path());
    open();
    make();
    BOOST_TEST(mode_of(backup) == 0700u);
    BOOST_TEST(open_ones(backup) == none, boost::test_tools::per_element());
    // The tables are links: what one may read there, he may read here.
    BOOST_TEST(open_ones(options.data_directory) == none,
               boost::test_tools::per_element());
    must(restore_backup(backup, restored));
    BOOST_TEST(open_ones(restored.parent_path()) == none,
               boost::test_tools::per_element());
  }
  // Nothing else is left beside it.
  for (const auto& f : std::filesystem::directory_iterator{place.path()})
    BOOST_TEST(!contains(f.path().filename().string(), "backup."), f.path());
}

BOOST_AUTO_TEST_CASE(leave_nothing_behind_when_they_fail) {
  auto nowhere = create_backup(*kept.db, place / "none" / "backup");
  BOOST_TEST((code_of(nowhere) == ec::invalid_request));
  BOOST_TEST(contains(text_of(nowhere), "does not exist; make it first"));
  // A link that leads nowhere is in the way as well.
  std::filesystem::create_symlink(place / "elsewhere", backup);
  BOOST_TEST((code_of(create_backup(*kept.db, backup)) == ec::conflict));
  for (const auto& f : std::filesystem::directory_iterator{place.path()})
    BOOST_TEST((f.path() == backup || f.path() == options.data_directory),
               f.path());
}

BOOST_AUTO_TEST_CASE(are_restored_only_below_the_store) {
  make();
  const auto whole = read_file(list());
  auto of_others = place / "escaped";
  for (const std::string name :
       {"../escaped", "../../escaped", "..", ".", "", "a/b", "/tmp/escaped",
        "troupe.closed", "LOCK", "LOG.old"}) {
    write_list(whole.substr(0, whole.rfind("end ")));
    write_file(of_others, "7 bytes");
    add_to_list(name);
    BOOST_TEST_CONTEXT("'" << name << "'") {
      refuses("not the name of one of them");
      BOOST_TEST((code_of(verify_backup(backup)) == ec::internal));
    }
  }
  write_list(whole.substr(0, whole.rfind("end ")));
  add_to_list(std::string{"nul\0.sst", 8});
  refuses("not the name of one of them");
  write_list(whole.substr(0, whole.rfind("end ")));
  must(restore_backup(backup, restored));
}

BOOST_AUTO_TEST_CASE(that_list_nothing_are_none) {
  make();
  write_list("");
  refuses("lists no files");
}

BOOST_AUTO_TEST_CASE(that_hold_links_are_refused) {
  make();
  const auto table = one_table();
  std::filesystem::rename(table, place / "elsewhere");
  std::filesystem::create_symlink(place / "elsewhere", table);
  refuses("is not a regular file");
}

// More may lie there than is listed, and only what is listed is copied.
BOOST_AUTO_TEST_CASE(whose_copy_does_not_open_are_refused) {
  make();
  auto text = read_file(list());
  std::string fewer;
  std::istringstream lines{text};
  const auto table = one_table().filename().string();
  for (std::string line; std::getline(lines, line);)
    if (!contains(line, table) && !line.starts_with("end "))
      fewer += line + "\n";
  write_list(fewer);
  refuses("the copy of");
}

BOOST_AUTO_TEST_CASE(name_the_file_that_does_not_match) {
  make();
  const auto table = one_table();
  auto bytes = read_file(table);
  bytes[bytes.size() / 2] ^= 4;
  std::filesystem::remove(table); // it is a link to the store's
  write_file(table, bytes);
  refuses(table.string()
          + " does not match its checksum: this backup cannot be restored; "
            "use another");
}

BOOST_AUTO_TEST_SUITE_END()
