#include "storage/database/private_env.hpp"
#include "tests/storage/catalog_fixture.hpp"

#include <sys/stat.h>

using namespace troupe;
using namespace troupe::tests;

BOOST_FIXTURE_TEST_SUITE(private_files, store_fixture)

namespace {

unsigned mode(const std::filesystem::path& path) {
  struct stat about {};
  BOOST_REQUIRE(::stat(path.c_str(), &about) == 0);
  return about.st_mode & 0777;
}

} // namespace

BOOST_AUTO_TEST_CASE(closes_what_an_older_version_left_open) {
  const auto directory = store_directory(options);
  change(alice, put_tool{make_tool("t")});
  close();
  const auto& data = options.data_directory;
  auto open_all = [&] {
    ::chmod(data.c_str(), 0755);
    ::chmod(directory.c_str(), 0755);
    ::chmod((directory / "CURRENT").c_str(), 0644);
  };
  open_all();
  open();
  BOOST_TEST(mode(data) == 0700u);
  BOOST_TEST(mode(directory) == 0700u);
  for (const auto& f : std::filesystem::directory_iterator{directory})
    BOOST_TEST((mode(f.path()) & 077) == 0u, f.path());
  close();
  // An operator's own directory stays as it is, and ours in it are closed.
  open_all();
  write_file(data / "of-somebody-else", "");
  open();
  BOOST_TEST(mode(data) == 0755u);
  BOOST_TEST(mode(directory) == 0700u);
}

BOOST_AUTO_TEST_SUITE_END()
