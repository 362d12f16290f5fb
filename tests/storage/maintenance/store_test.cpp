#include "storage/database/key_codec.hpp"
#include "storage/database/rocksdb_options.hpp"
#include "storage/maintenance/migration.hpp"
#include "storage/maintenance/store.hpp"
#include "tests/storage/catalog_fixture.hpp"
#include "tests/storage/child.hpp"
#include "tests/support/readable_forms.hpp"

#include <rocksdb/db.h>
#include <sys/stat.h>

using namespace troupe;
using namespace troupe::tests;

namespace {

struct fixture : store_fixture {
  std::filesystem::path path() { return store_directory(options); }

  void set_format(std::uint64_t n) {
    batch b;
    b.put(column::meta, key_codec::encode_global({"format"}),
          key_codec::number(n));
    must(kept.db->write(b));
  }
  std::string open_text() {
    auto opened = open_store(options);
    return opened ? std::string{} : to_string(opened.error());
  }
  /// All files of the store, without RocksDB's own log.
  std::map<std::string, std::string> files() {
    std::map<std::string, std::string> all;
    for (const auto& f : std::filesystem::directory_iterator{path()})
      if (auto name = f.path().filename().string(); !name.starts_with("LOG"))
        all[name] = read_file(f.path());
    return all;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(store_suite, fixture)

BOOST_AUTO_TEST_CASE(just_works_on_the_first_start) {
  struct stat about {};
  BOOST_REQUIRE(::stat((options.data_directory / "master.key").c_str(), &about)
                == 0);
  BOOST_TEST((about.st_mode & 0777) == 0600u);
  BOOST_REQUIRE(::stat(options.data_directory.c_str(), &about) == 0);
  BOOST_TEST((about.st_mode & 0777) == 0700u);
  BOOST_TEST(must(read_format(*kept.db)) == current_format);
}

BOOST_AUTO_TEST_CASE(refuses_a_second_engine_on_the_same_data) {
  auto text = open_text();
  BOOST_TEST(contains(text, "conflict"));
  BOOST_TEST(contains(text, "process"));
}

BOOST_AUTO_TEST_CASE(refuses_a_wrong_or_missing_key_and_changes_no_file) {
  change(alice, put_variable{config(alice), "K", secret{"v"}, ""});
  close();
  auto key_file = options.data_directory / "master.key";
  auto right = read_file(key_file);
  auto before = files();
  std::filesystem::remove(key_file);
  auto missing = open_text();
  BOOST_TEST(contains(missing, "is missing, but the store is sealed"));
  BOOST_TEST(!std::filesystem::exists(key_file)); // and none was made
  write_file(key_file,
             must(master_key::make(system_random())).to_text().reveal());
  ::chmod(key_file.c_str(), 0600);
  BOOST_TEST(contains(open_text(), "use the right key"));
  ::chmod(key_file.c_str(), 0644);
  BOOST_TEST(contains(open_text(), "chmod 600"));
  BOOST_TEST((files() == before));
  write_file(key_file, right);
  ::chmod(key_file.c_str(), 0600);
  open();
  must(kept.catalog->verify());
}

BOOST_AUTO_TEST_CASE(refuses_a_newer_format_and_changes_no_file) {
  set_format(current_format + 1);
  close();
  auto before = files();
  auto text = open_text();
  BOOST_TEST(contains(text, "invalid_request"));
  BOOST_TEST(contains(text, "use the newer version"));
  BOOST_TEST((files() == before));
}

BOOST_AUTO_TEST_CASE(refuses_a_part_that_a_newer_version_made) {
  close();
  {
    auto settings = make_settings({}, rocksdb::Env::Default());
    std::vector<rocksdb::ColumnFamilyDescriptor> all;
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    all.emplace_back("default", rocksdb::ColumnFamilyOptions{});
    for (std::size_t i = 0; i < column_count; ++i)
      all.emplace_back(std::string{to_string(static_cast<column>(i))},
                       rocksdb::ColumnFamilyOptions{});
    all.emplace_back("hologram", rocksdb::ColumnFamilyOptions{});
    rocksdb::DB* raw = nullptr;
    std::filesystem::remove(path() / "troupe.closed");
    auto opened
      = rocksdb::DB::Open(settings.db, path().string(), all, &handles, &raw);
    BOOST_REQUIRE(opened.ok());
    for (auto* handle : handles)
      raw->DestroyColumnFamilyHandle(handle);
    delete raw;
  }
  auto text = open_text();
  BOOST_TEST(contains(text, "hologram"));
  BOOST_TEST(contains(text, "newer version"));
}

BOOST_AUTO_TEST_CASE(migrates_from_every_earlier_format) {
  for (std::uint32_t from = 0; from < current_format; ++from) {
    std::vector<run_record> some;
    for (int i = 0; i < 5; ++i) {
      run_record r;
      r.id = run_id::make();
      r.organization = alice.organization;
      r.phase = i == 0 ? run_phase::running : run_phase::ended;
      r.created_at = at(i);
      some.push_back(r);
    }
    // Both had them in the clear; format 0 neither a number nor the index.
    batch b;
    for (const auto& r : some) {
      const auto text = encode_run(r);
      b.put(column::runs, key_codec::encode(alice.organization, {r.id.str()}),
            text);
      if (from > 0)
        put_run_index(b, r, text.size());
    }
    b.erase(column::meta, key_codec::encode_global({"format"}));
    if (from > 0)
      b.put(column::meta, key_codec::encode_global({"format"}),
            key_codec::number(from));
    must(kept.db->write(b));
    close();
    open();
    BOOST_TEST(must(read_format(*kept.db)) == current_format);
    auto all = must(kept.runs->list(alice.organization, "", 50));
    BOOST_TEST(all.items.size() == 5u);
    BOOST_TEST((all.items.front().created_at == at(4)));
    BOOST_TEST(must(kept.runs->unfinished()).size() == 1u);
    must(kept.runs->erase_organization(alice.organization));
  }
}

BOOST_AUTO_TEST_CASE(opens_an_older_store_without_the_newest_columns) {
  close();
  auto directory = place / "old";
  {
    // As a version wrote it that knew only some of the columns.
    auto settings = make_settings({}, rocksdb::Env::Default());
    std::filesystem::create_directory(directory);
    rocksdb::DB* raw = nullptr;
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    std::vector<rocksdb::ColumnFamilyDescriptor> some{
      {"default", {}}, {"meta", {}}, {"tools", {}}, {"runs", {}}};
    auto opened = rocksdb::DB::Open(settings.db, directory.string(), some,
                                    &handles, &raw);
    BOOST_REQUIRE(opened.ok());
    run_record r;
    r.id = run_id::make();
    r.organization = alice.organization;
    auto key = key_codec::encode(alice.organization, {r.id.str()});
    BOOST_REQUIRE(
      raw->Put(rocksdb::WriteOptions{}, handles[3], key, encode_run(r)).ok());
    for (auto* handle : handles)
      raw->DestroyColumnFamilyHandle(handle);
    delete raw;
  }
  std::filesystem::remove_all(path());
  std::filesystem::rename(directory, path());
  open();
  BOOST_TEST(must(kept.runs->list(alice.organization, "", 5)).items.size()
             == 1u);
  change(alice, put_variable{config(alice), "K", secret{"v"}, ""});
  reopen();
  must(kept.catalog->verify());
}

// -- backups ------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(backs_up_and_restores_while_in_use) {
  auto c = config(alice);
  change(alice, put_variable{c, "K", secret{"at backup"}, ""});
  must(kept.audit->append(alice.organization, {{"a", 1}}, at(0)));
  auto backup = place / "backup";
  auto made = must(create_backup(*kept.db, backup));
  BOOST_TEST(made.master_key == kept.seals->master_id());
  BOOST_TEST(made.format == current_format);
  change(alice, put_variable{c, "K", secret{"later"}, ""});
  BOOST_TEST((code_of(create_backup(*kept.db, backup)) == ec::conflict));
  BOOST_TEST(must(verify_backup(backup)).files == made.files);
  BOOST_TEST((code_of(restore_backup(backup, path())) == ec::conflict));
  close();
  std::filesystem::remove_all(path());
  must(restore_backup(backup, path()));
  open();
  BOOST_TEST(value_of(*of(alice).variables.at(c).at("K")) == "at backup");
  must(kept.audit->verify_all());
  must(kept.catalog->verify());
  // The restored one lives on; the backup stays what it was.
  change(alice, put_variable{c, "K", secret{"new"}, ""});
  must(verify_backup(backup));
}

BOOST_AUTO_TEST_CASE(names_every_damaged_file_of_a_backup) {
  change(alice, put_variable{config(alice), "K", secret{"v"}, ""});
  auto backup = place / "backup";
  must(create_backup(*kept.db, backup));
  BOOST_TEST((code_of(verify_backup(place / "none")) == ec::not_found));
  auto copy = place / "copy";
  for (const auto& f : std::filesystem::directory_iterator{backup}) {
    auto name = f.path().filename().string();
    if (name.starts_with("LOG") || name == "LOCK")
      continue;
    for (auto how : {"flip", "cut", "gone"}) {
      copy_directory(backup, copy);
      auto bytes = read_file(copy / name);
      if (how == std::string{"gone"}) {
        std::filesystem::remove(copy / name);
      } else {
        if (how == std::string{"flip"} && !bytes.empty())
          bytes[bytes.size() / 2] ^= 4;
        else
          bytes = bytes.substr(
            0, bytes.size() - std::min<std::size_t>(1, bytes.size()));
        std::filesystem::remove(copy / name); // it may be a hard link
        write_file(copy / name, bytes);
      }
      if (bytes.empty() && how != std::string{"gone"})
        continue;
      auto verified = verify_backup(copy);
      BOOST_TEST(!verified, name << " " << how);
      if (!verified)
        BOOST_TEST(contains(text_of(verified), name));
      BOOST_TEST(!restore_backup(copy, place / "restored"));
      BOOST_TEST(!std::filesystem::exists(place / "restored"));
    }
  }
}

// -- rotation and secrets -----------------------------------------------------

BOOST_AUTO_TEST_CASE(rotates_a_data_key_under_readers_and_writers) {
  auto c = config(alice);
  for (int i = 0; i < 100; ++i)
    change(
      alice,
      put_variable{c, "K" + std::to_string(i), secret{std::to_string(i)}, ""});
  change(alice, put_agent_variables{"agent", {{"A", secret{"a"}}}});
  auto old = kept.catalog->current();
  std::vector<std::string> steps;
  must(kept.catalog->rotate_data_key(
    alice.organization, [&](const rotation_progress& p) {
      if (steps.empty() || steps.back() != p.step)
        steps.push_back(p.step);
      must(kept.catalog->verify());
      change(alice, put_variable{c, "K0", secret{p.step}, ""});
    }));
  std::vector<std::string> expected{"renewed", "resealed", "retired"};
  BOOST_TEST(steps == expected, boost::test_tools::per_element());
  BOOST_TEST(kept.catalog->stale_values(alice.organization) == 0u);
  BOOST_TEST(kept.seals->data_key_versions(alice.organization).size() == 1u);
  // A reader with an older picture still opens what it sees.
  for (const auto& [id, v] : old->find(alice.organization)->variables_by_id)
    BOOST_REQUIRE(kept.seals->open(*v));
  reopen();
  must(kept.catalog->verify());
  BOOST_TEST(value_of(*of(alice).variables.at(c).at("K99")) == "99");
  BOOST_TEST(
    must(read_sealed_header(of(alice).variables.at(c).at("K99")->sealed))
      .key_version
    == 2u);
}

BOOST_AUTO_TEST_CASE(finishes_a_data_key_rotation_that_was_killed_at_any_step) {
  auto c = config(alice);
  for (int i = 0; i < 150; ++i) // three batches
    change(
      alice,
      put_variable{c, "K" + std::to_string(i), secret{std::to_string(i)}, ""});
  close();
  auto original = place / "original";
  copy_directory(options.data_directory, original);
  bool finished = false;
  for (int step = 0; !finished; ++step) {
    BOOST_REQUIRE(step < 20);
    copy_directory(original, options.data_directory);
    child rotating{"store_child/rotates_and_dies",
                   {{"DATA", options.data_directory.string()},
                    {"STEP", std::to_string(step)}}};
    auto code = rotating.wait();
    BOOST_REQUIRE((code == 0 || code == -SIGKILL));
    finished = code == 0;
    open();
    BOOST_TEST_CONTEXT("killed at step " << step) {
      must(kept.catalog->verify());
      BOOST_TEST(of(alice).variables.at(c).size() == 150u);
      BOOST_TEST(value_of(*of(alice).variables.at(c).at("K7")) == "7");
      BOOST_TEST(kept.catalog->stale_values(alice.organization) == 0u);
      auto versions = kept.seals->data_key_versions(alice.organization);
      BOOST_TEST(versions == std::vector<std::uint32_t>{2},
                 boost::test_tools::per_element());
    }
    close();
  }
}

BOOST_AUTO_TEST_CASE(erases_an_organization_with_its_keys) {
  change(alice, put_variable{config(alice), "K", secret{"v"}, ""});
  change(alice, put_tool{make_tool("t")});
  change(alice, put_key{make_key("h")});
  change(bob, put_tool{make_tool("t")});
  must(kept.catalog->erase_organization(alice.organization));
  for (int round = 0; round < 2; ++round) {
    BOOST_TEST(!kept.catalog->current()->find(alice.organization));
    BOOST_TEST(kept.catalog->current()->keys_by_hash.empty());
    BOOST_TEST(of(bob).tools.size() == 1u);
    BOOST_TEST(kept.seals->data_key_versions(alice.organization).empty());
    reopen();
  }
}

BOOST_AUTO_TEST_CASE(leaves_no_secret_readable_in_any_file) {
  const std::string text = "PLAINTEXT-canary-7f3a9c";
  auto c = config(alice);
  change(alice, put_variable{c, "K", secret{text}, ""});
  change(alice, put_agent_variables{"agent", {{"A", secret{text + "2"}}}});
  must(kept.idempotency->claim(alice.organization, "k", text, run_id::make(),
                               at(0)));
  must(kept.seals->rotate_master(must(master_key::make(system_random()))));
  must(kept.catalog->rotate_data_key(alice.organization));
  must(create_backup(*kept.db, options.data_directory / "backup"));
  change(alice, put_variable{c, "K", secret{text + "3"}, ""});
  // The test can fail: what is no secret is found by the same search.
  const std::string open_text = "OPEN-canary-7f3a9c";
  change(alice, put_variable{c, "O", secret{"x"}, open_text});
  auto master = read_file(options.data_directory / "master.key");
  auto hidden = readable_forms(text);
  hidden.push_back(master.substr(0, 64));
  int open_hits = 0;
  for (int round = 0; round < 2; ++round) { // open, then closed
    for (const auto& f : std::filesystem::recursive_directory_iterator{
           options.data_directory}) {
      if (!f.is_regular_file() || f.path().filename() == "master.key")
        continue;
      auto bytes = read_file(f.path());
      for (const auto& form : hidden)
        BOOST_TEST(!contains(bytes, form), f.path());
      open_hits += contains(bytes, open_text);
    }
    close();
  }
  BOOST_TEST(open_hits > 0);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(store_child, *boost::unit_test::disabled())

BOOST_AUTO_TEST_CASE(rotates_and_dies) {
  store_options options;
  options.data_directory = told("DATA");
  options.master.lookup = [](const std::string&) { return std::nullopt; };
  auto kept = must(open_store(options));
  auto left = std::stoi(told("STEP"));
  must(kept.catalog->rotate_data_key(organization_id{"org-a"},
                                     [&](const rotation_progress&) {
                                       if (left-- == 0)
                                         ::kill(::getpid(), SIGKILL);
                                     }));
}

BOOST_AUTO_TEST_SUITE_END()
