#include "storage/sealing/master_key.hpp"
#include "tests/storage/support.hpp"

#include <sys/stat.h>

using namespace troupe;
using namespace troupe::tests;

namespace {

using variables = std::map<std::string, std::string>;

struct fixture {
  temporary_directory place;
  std::filesystem::path file = place / "master.key";

  master_key_options options(variables set = {}) const {
    master_key_options o;
    o.file = file;
    o.lookup = [set](const std::string& name) -> std::optional<std::string> {
      auto i = set.find(name);
      return i == set.end() ? std::nullopt : std::optional{i->second};
    };
    return o;
  }

  result<key_source> read(const std::string& content, mode_t mode = 0600) {
    write_file(file, content);
    ::chmod(file.c_str(), mode);
    return key_source::open(options(), false);
  }
};

std::string fresh() {
  return must(master_key::make(system_random())).to_text().reveal();
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(master_key_suite, fixture)

BOOST_AUTO_TEST_CASE(makes_a_key_file_on_the_first_start) {
  auto made = must(key_source::open(options(), true));
  struct stat about {};
  BOOST_REQUIRE(::stat(file.c_str(), &about) == 0);
  BOOST_TEST((about.st_mode & 07777) == 0600u);
  auto again = must(key_source::open(options(), true));
  BOOST_TEST(again.first().id == made.first().id);
  BOOST_TEST((again.first().bytes.view() == made.first().bytes.view()));
  BOOST_TEST(contains(again.origin(), file.string()));
}

BOOST_AUTO_TEST_CASE(takes_the_key_of_a_first_start_that_was_faster) {
  std::string other;
  // Between our look for the file and our making it.
  auto meanwhile = [&](std::span<std::uint8_t> bytes) {
    other = must(key_source::open(options(), true)).first().id;
    return system_random()(bytes);
  };
  auto ours = must(key_source::open(options(), true, meanwhile));
  BOOST_TEST(ours.first().id == other);
  BOOST_TEST(must(key_source::open(options(), false)).first().id == other);
  // Nothing is left beside it.
  auto all = std::filesystem::directory_iterator{place.path()};
  BOOST_TEST(std::distance(begin(all), end(all)) == 1);
}

BOOST_AUTO_TEST_CASE(writes_through_no_link_that_lies_beside_the_file) {
  auto source = must(key_source::open(options(), true));
  write_file(place / "elsewhere", "theirs");
  std::filesystem::create_symlink(place / "elsewhere",
                                  place / "master.key.new");
  must(source.add(must(master_key::make(system_random()))));
  BOOST_TEST(read_file(place / "elsewhere") == "theirs");
  struct stat about {};
  BOOST_REQUIRE(::lstat(file.c_str(), &about) == 0);
  BOOST_TEST(S_ISREG(about.st_mode));
  BOOST_TEST((about.st_mode & 07777) == 0600u);
}

BOOST_AUTO_TEST_CASE(makes_no_key_where_one_must_be) {
  auto missing = key_source::open(options(), false);
  BOOST_TEST((code_of(missing) == ec::not_found));
  BOOST_TEST(contains(text_of(missing), "is missing"));
  BOOST_TEST(!std::filesystem::exists(file));
}

BOOST_AUTO_TEST_CASE(reads_a_good_file) {
  auto key = fresh();
  BOOST_TEST(must(read(key)).all().size() == 1u);
  BOOST_TEST(must(read(key + "\n")).all().size() == 1u);
  BOOST_TEST(must(read(key + "\n" + fresh() + "\n")).all().size() == 2u);
  BOOST_TEST(must(read(key, 0400)).all().size() == 1u);
}

BOOST_AUTO_TEST_CASE(refuses_a_file_that_others_can_use) {
  auto key = fresh();
  for (mode_t mode : {0644, 0640, 0604, 0620, 0666, 0601}) {
    auto refused = read(key, mode);
    BOOST_TEST((code_of(refused) == ec::denied));
    BOOST_TEST(contains(text_of(refused), "chmod 600"));
  }
}

BOOST_AUTO_TEST_CASE(refuses_what_is_no_key_and_says_how_one_looks) {
  auto key = fresh();
  for (const auto& bad :
       {std::string{}, std::string{"\n"}, key.substr(1), key + "0",
        key + "\r\n", " " + key, key + "\n\n", key.substr(0, 63) + "g",
        key.substr(0, 32) + "\n" + key.substr(32), std::string(64, '0'),
        std::string(64, 'a'), key + "\nrubbish", std::string(32, '\x7f'),
        std::string(5000, 'a')}) {
    auto refused = read(bad);
    BOOST_TEST((code_of(refused) == ec::invalid_request));
    BOOST_TEST(contains(text_of(refused), "64 hexadecimal digits"));
    BOOST_TEST(!contains(text_of(refused), key.substr(0, 8)));
  }
}

BOOST_AUTO_TEST_CASE(refuses_a_link_and_a_directory) {
  auto elsewhere = place / "elsewhere";
  write_file(elsewhere, fresh());
  ::chmod(elsewhere.c_str(), 0600);
  std::filesystem::create_symlink(elsewhere, file);
  BOOST_TEST(!key_source::open(options(), true));
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  BOOST_TEST(!key_source::open(options(), true));
}

BOOST_AUTO_TEST_CASE(prefers_the_variable_then_the_credential_then_the_file) {
  auto in_file = fresh();
  auto in_credential = fresh();
  auto in_variable = fresh();
  must(read(in_file));
  write_file(place / "troupe-master-key", in_credential);
  ::chmod((place / "troupe-master-key").c_str(), 0440);
  auto id = [&](const variables& set) {
    return must(key_source::open(options(set), false)).first().id;
  };
  auto id_of
    = [](const std::string& text) { return must(master_key::parse(text)).id; };
  variables all{{"TROUPE_MASTER_KEY", in_variable},
                {"CREDENTIALS_DIRECTORY", place.path().string()}};
  BOOST_TEST(id(all) == id_of(in_variable));
  all.erase("TROUPE_MASTER_KEY");
  BOOST_TEST(id(all) == id_of(in_credential));
  all["CREDENTIALS_DIRECTORY"] = (place / "none").string();
  BOOST_TEST(id(all) == id_of(in_file));
}

BOOST_AUTO_TEST_CASE(refuses_a_variable_that_is_no_key) {
  // A variable that is set but wrong must not lead to another key.
  for (const auto& bad : {std::string{}, fresh() + "\n", std::string{"abc"}}) {
    auto refused
      = key_source::open(options({{"TROUPE_MASTER_KEY", bad}}), true);
    BOOST_TEST((code_of(refused) == ec::invalid_request));
    BOOST_TEST(contains(text_of(refused), "TROUPE_MASTER_KEY"));
  }
  BOOST_TEST(!std::filesystem::exists(file));
}

BOOST_AUTO_TEST_CASE(adds_and_drops_keys_in_the_file) {
  auto source = must(key_source::open(options(), true));
  auto old = source.first().id;
  auto next = must(master_key::make(system_random()));
  auto id = next.id;
  must(source.add(std::move(next)));
  BOOST_TEST(must(key_source::open(options(), false)).all().size() == 2u);
  must(source.drop(old));
  auto left = must(key_source::open(options(), false));
  BOOST_TEST(left.all().size() == 1u);
  BOOST_TEST(left.first().id == id);
  must(source.drop("unknown"));
}

BOOST_AUTO_TEST_CASE(leaves_the_operators_keys_to_the_operator) {
  auto first = fresh();
  auto second = fresh();
  auto source
    = must(key_source::open(options({{"TROUPE_MASTER_KEY", first}}), false));
  auto refused = source.add(must(master_key::parse(second)));
  BOOST_TEST((code_of(refused) == ec::conflict));
  auto both = must(key_source::open(
    options({{"TROUPE_MASTER_KEY", first + "," + second}}), false));
  must(both.add(must(master_key::parse(second))));
}

BOOST_AUTO_TEST_CASE(fails_without_randomness) {
  auto broken = [](std::span<std::uint8_t>) -> result<void> {
    return error{ec::internal, "none", {}, {}};
  };
  BOOST_TEST(!key_source::open(options(), true, broken));
  BOOST_TEST(!std::filesystem::exists(file));
}

BOOST_AUTO_TEST_CASE(never_prints_a_key) {
  auto key = must(master_key::make(system_random()));
  std::ostringstream out;
  out << key.to_text();
  BOOST_TEST(out.str() == "***");
  BOOST_TEST(key.id.size() == 16u);
  BOOST_TEST(!contains(key.to_text().reveal(), key.id));
}

BOOST_AUTO_TEST_SUITE_END()
