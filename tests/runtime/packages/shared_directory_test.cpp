#include "runtime/packages/shared_directory.hpp"
#include "tests/runtime/packages/builder_fixture.hpp"

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(shared_directory_suite)

using enum shared_place::answer;

struct fixture {
  scratch dir;
  fs::path root = dir.path / "root";
  fs::path elsewhere = dir.path / "elsewhere";

  fixture() {
    fs::create_directories(root / "a" / "b");
    fs::create_directories(elsewhere / "there");
  }
  shared_place find(const fs::path& what) const {
    return find_shared(what.string(), {root});
  }
  bool is(const fs::path& what, shared_place::answer expected) const {
    return find(what).is == expected;
  }
};

BOOST_FIXTURE_TEST_CASE(finds_what_lies_below_a_root, fixture) {
  BOOST_TEST((find(root / "a" / "b").real == fs::canonical(root / "a" / "b")));
  BOOST_TEST(is(root, directory));
  BOOST_TEST(is(root / "a/", directory));
  BOOST_TEST(is(root / "a/../a/./b", directory));
  BOOST_TEST(is(root / "none" / "at" / "all", absent));
  std::ofstream{root / "file"} << "text";
  BOOST_TEST(is(root / "file", absent));
  BOOST_TEST(is(root / "file" / "below", absent));
}

BOOST_FIXTURE_TEST_CASE(says_nothing_about_what_lies_elsewhere, fixture) {
  for (const auto& what :
       {elsewhere / "there", elsewhere / "nothing", root / "../elsewhere/there",
        root / "../elsewhere/nothing", dir.path / "root2", fs::path{"/"},
        fs::path{"root"}, fs::path{"~/x"}, fs::path{}})
    BOOST_TEST(is(what, outside), what.string());
  BOOST_TEST(
    (find_shared((root / "a").string() + '\0' + "x", {root}).is == outside));
  BOOST_TEST((find_shared(root.string(), {}).is == outside));
}

// Who writes below a root makes links there, and could ask with them.
BOOST_FIXTURE_TEST_CASE(says_nothing_about_where_links_lead_out_to, fixture) {
  auto link = [&](const char* name, const fs::path& to) {
    fs::create_symlink(to, root / name);
    return root / name;
  };
  for (const auto& what :
       {link("1", elsewhere / "there"), link("2", elsewhere / "nothing"),
        link("3", "../elsewhere/there"), link("4", "../elsewhere/nothing"),
        link("5", elsewhere) / "there", root / "5" / "nothing", link("6", "1"),
        link("7", "7"), link("8", "/proc/self/root")})
    BOOST_TEST(is(what, outside), what.string());
}

BOOST_FIXTURE_TEST_CASE(follows_links_that_stay_below_a_root, fixture) {
  fs::create_symlink("a", root / "near");
  fs::create_symlink(root / "a" / "b", root / "full");
  fs::create_symlink("../near/b", root / "a" / "up");
  fs::create_symlink("a/none", root / "lost");
  const auto b = fs::canonical(root / "a" / "b");
  for (const char* name : {"near/b", "full", "a/up"})
    BOOST_TEST((find(root / name).real == b), name);
  BOOST_TEST(is(root / "lost", absent));
}

BOOST_FIXTURE_TEST_CASE(knows_a_root_by_both_of_its_names, fixture) {
  fs::create_directory_symlink(root, dir.path / "other");
  const auto a = fs::canonical(root / "a");
  for (const char* name : {"root", "other"})
    BOOST_TEST(
      (find_shared((dir.path / name / "a").string(), {dir.path / "other" / ""})
         .real
       == a),
      name);
}

BOOST_AUTO_TEST_SUITE_END()
