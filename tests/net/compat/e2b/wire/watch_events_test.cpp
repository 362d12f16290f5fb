#include "net/compat/e2b/wire/watch_events.hpp"
#include "runtime/json/json.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::net::e2b_facade;
using kind = file_event::kind;

BOOST_AUTO_TEST_SUITE(e2b_watch_events)

namespace {

/// "CREATE a.txt, WRITE a.txt"
std::string told(watch_events& by, const std::vector<file_event>& events) {
  std::string out;
  for (const auto& each : by.told(events)) {
    const auto o = json::parse_object(each).value();
    const std::string type{o.at("type").as_string()};
    out.append(out.empty() ? "" : ", ")
      .append(type.substr(std::string_view{"EVENT_TYPE_"}.size()))
      .append(" ")
      .append(o.at("name").as_string());
  }
  return out;
}

} // namespace

BOOST_AUTO_TEST_CASE(names_are_below_the_folder_that_is_watched) {
  watch_events events{"/home/user/w"};
  BOOST_TEST(told(events,
                  {{kind::created, "/home/user/w/a/b", ""},
                   {kind::written, "/home/user/w/a/b", ""},
                   {kind::changed, "/home/user/w/a/b", ""},
                   {kind::removed, "/home/user/w/a/b", ""}})
             == "CREATE a/b, WRITE a/b, CHMOD a/b, REMOVE a/b");
  BOOST_TEST(told(events, {{kind::removed, "/home/user/w", ""}}) == "");
  watch_events root{"/"};
  BOOST_TEST(told(root, {{kind::created, "/a", ""}}) == "CREATE a");
}

BOOST_AUTO_TEST_CASE(a_move_is_two_events) {
  watch_events events{"/w"};
  BOOST_TEST(told(events, {{kind::moved, "/w/a", "/w/b"}})
             == "RENAME a, CREATE b");
}

BOOST_AUTO_TEST_CASE(an_upload_is_a_file_that_is_written) {
  watch_events events{"/w"};
  const std::vector<file_event> upload{{kind::created, "/w/.troupe-1", ""},
                                       {kind::written, "/w/.troupe-1", ""},
                                       {kind::moved, "/w/.troupe-1", "/w/a"}};
  BOOST_TEST(told(events, upload) == "CREATE a, WRITE a");
  BOOST_TEST(told(events, upload) == "WRITE a");
}

BOOST_AUTO_TEST_CASE(what_was_too_much_is_told) {
  watch_events events{"/w"};
  BOOST_TEST(!events.overflowed());
  BOOST_TEST(told(events, {{kind::overflow, "/w", ""}}) == "");
  BOOST_TEST(events.overflowed());
}

BOOST_AUTO_TEST_SUITE_END()
