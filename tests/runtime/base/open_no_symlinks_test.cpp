#include "runtime/base/open_no_symlinks.hpp"
#include "runtime/base/unique_fd.hpp"
#include "tests/support/temporary_directory.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

BOOST_AUTO_TEST_SUITE(open_no_symlinks)

namespace {

int error_of(const std::string& path) {
  errno = 0;
  troupe::unique_fd opened{troupe::isolation::open_exactly(path.c_str())};
  return opened ? 0 : errno;
}

} // namespace

BOOST_AUTO_TEST_CASE(opens_what_no_link_is_on_the_way_to) {
  troupe::tests::temporary_directory place;
  const auto root = std::filesystem::canonical(place.path());
  std::filesystem::create_directories(root / "a" / "b..");
  std::ofstream{root / "a" / "b.." / "file"} << "x";
  std::filesystem::create_directory_symlink(root / "a", root / "link");
  std::filesystem::create_symlink("nowhere", root / "a" / "dangling");
  const auto at = root.string();
  BOOST_TEST(error_of("/") == 0);
  BOOST_TEST(error_of(at) == 0);
  BOOST_TEST(error_of(at + "//a/./b../file") == 0);
  BOOST_TEST(error_of(at + "/a/b../") == 0);
  BOOST_TEST(error_of(at + "/a/missing") == ENOENT);
  BOOST_TEST(error_of(at + "/link") == ELOOP);
  BOOST_TEST(error_of(at + "/link/b../file") == ELOOP);
  BOOST_TEST(error_of(at + "/a/dangling") == ELOOP);
  BOOST_TEST(error_of(at + "/a/../a") == EINVAL);
  BOOST_TEST(error_of(at + "/a/..") == EINVAL);
  BOOST_TEST(error_of("relative") == EINVAL);
  BOOST_TEST(error_of("") == EINVAL);
  BOOST_TEST(error_of(at + "/" + std::string(300, 'x')) == ENAMETOOLONG);
}

BOOST_AUTO_TEST_SUITE_END()
