#include "runtime/base/log.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(logging)

namespace {

std::string seen;

void keep(log::level l, std::string_view text, log::fields more) noexcept {
  seen += std::string{to_string(l)} + " " + std::string{text};
  for (auto& [name, value] : more)
    seen += " " + std::string{name} + "=" + std::string{value};
  seen += "\n";
}

} // namespace

BOOST_AUTO_TEST_CASE(writes_nothing_before_it_is_connected) {
  seen.clear();
  log::error("nobody listens");
  BOOST_TEST(seen.empty());
  BOOST_TEST(!log::enabled(log::level::error));
}

BOOST_AUTO_TEST_CASE(hands_lines_of_enough_weight_to_its_sink) {
  seen.clear();
  log::connect(keep, log::level::info);
  BOOST_TEST(log::enabled(log::level::info));
  BOOST_TEST(!log::enabled(log::level::debug));
  log::debug("too light");
  log::info("warden started zygotes", {{"count", "2"}});
  log::connect(nullptr, log::level::debug);
  log::error("nobody listens");
  BOOST_TEST(seen == "info warden started zygotes count=2\n");
}

BOOST_AUTO_TEST_SUITE_END()
