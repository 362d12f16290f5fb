#include "runtime/base/log.hpp"
#include "storage/database/rocksdb_logger.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

BOOST_AUTO_TEST_SUITE(rocks_logs)

namespace {

namespace log = troupe::log;

std::vector<std::string> said;

void listen(log::level l, std::string_view, log::fields more) noexcept {
  said.push_back(std::string{log::to_string(l)} + ": "
                 + std::string{more.begin()->value});
}

} // namespace

BOOST_AUTO_TEST_CASE(passes_on_warnings_and_errors_only) {
  said.clear();
  log::connect(listen, log::level::debug);
  auto to = troupe::make_rocks_log();
  rocksdb::Info(to, "flushed %d", 1);
  rocksdb::Warn(to, "stalled %d", 2);
  rocksdb::Error(to, "lost %d", 3);
  rocksdb::Warn(to, "%s", std::string(1u << 20, 'x').c_str());
  log::connect(nullptr, log::level::off);
  BOOST_REQUIRE_EQUAL(said.size(), 3u);
  BOOST_TEST(said[0].find("warning: ") == 0u);
  BOOST_TEST(said[0].find("stalled 2") != std::string::npos);
  BOOST_TEST(said[1].find("error: ") == 0u);
  BOOST_TEST(said[2].size() < 4096u);
}

BOOST_AUTO_TEST_SUITE_END()
