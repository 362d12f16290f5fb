#include "net/compat/e2b/entry_info.hpp"
#include "net/compat/e2b/execute_stream.hpp"
#include "net/compat/e2b/paths.hpp"
#include "net/compat/e2b/process_stream.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::net::e2b_facade;

BOOST_AUTO_TEST_SUITE(e2b_entries)

namespace {

/// What find(1) says of one name.
std::string said(const std::string& path, const std::string& kinds = "ff",
                 const std::string& mode = "644") {
  std::string out;
  for (const auto& field :
       {kinds.substr(0, 1), kinds.substr(1), mode, std::string{"user"},
        std::string{"users"}, std::string{"4"}, std::string{"1767323045.67"},
        path}) {
    out += field;
    out += '\0';
  }
  return out;
}

std::string permissions(char kind, std::uint32_t mode) {
  entry_info e;
  e.kind = kind;
  e.mode = mode;
  return permissions_of(e);
}

} // namespace

BOOST_AUTO_TEST_CASE(a_folder_comes_directly_before_what_is_in_it) {
  const auto all
    = parse_entries(said("/a/b-c") + said("/a/b/z") + said("/a/b", "dd")
                    + said("/a/b.txt") + said("/a/B"));
  BOOST_REQUIRE(all);
  std::vector<std::string> paths;
  for (const auto& each : *all)
    paths.push_back(each.path);
  const std::vector<std::string> wanted{"/a/B", "/a/b", "/a/b/z", "/a/b-c",
                                        "/a/b.txt"};
  BOOST_TEST(paths == wanted, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_entry_is_told_as_the_clients_read_it) {
  const auto all = parse_entries(said("/home/user/a.txt"));
  BOOST_REQUIRE(all);
  BOOST_TEST(
    to_json(all->front())
    == R"({"name":"a.txt","type":"FILE_TYPE_FILE","path":"/home/user/a.txt",)"
       R"("size":"4","mode":420,"permissions":"-rw-r--r--","owner":"user",)"
       R"("group":"users","modifiedTime":"2026-01-02T03:04:05.670000Z"})");
}

BOOST_AUTO_TEST_CASE(what_a_tenant_says_of_a_file_is_kept_within_bounds) {
  const std::vector<std::string> hostile{
    "",  "x", "999999", "", "", "99999999999999999999", "9999999999999999999.x",
    "/a"};
  std::string text;
  for (const auto& each : hostile) {
    text += each;
    text += '\0';
  }
  const auto all = parse_entries(text);
  BOOST_REQUIRE(all);
  const auto told = to_json(all->front());
  BOOST_TEST(json::parse_object(told).has_value());
  BOOST_TEST(told.find("FILE_TYPE_UNSPECIFIED") != std::string::npos);
  entry_info late = all->front();
  late.modified = "253402300800";
  BOOST_TEST(to_json(late).find("9999-12-31T23:59:59") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_list_that_was_cut_off_is_refused) {
  auto text = said("/a");
  text.resize(text.find('\0', 3) + 1);
  BOOST_TEST(!parse_entries(text));
  BOOST_TEST(parse_entries("").value().empty());
}

BOOST_AUTO_TEST_CASE(permissions_have_the_letters_of_the_vendor) {
  BOOST_TEST(permissions('f', 0644) == "-rw-r--r--");
  BOOST_TEST(permissions('d', 0755) == "drwxr-xr-x");
  BOOST_TEST(permissions('d', 01777) == "dtrwxrwxrwx");
  BOOST_TEST(permissions('l', 0777) == "Lrwxrwxrwx");
  BOOST_TEST(permissions('f', 04755) == "urwxr-xr-x");
}

BOOST_AUTO_TEST_CASE(paths_begin_at_home_and_stay_as_they_are_said) {
  BOOST_TEST(absolute_path("").value() == "/home/user");
  BOOST_TEST(absolute_path("~").value() == "/home/user");
  BOOST_TEST(absolute_path("~/a").value() == "/home/user/a");
  BOOST_TEST(absolute_path("a/b/").value() == "/home/user/a/b");
  BOOST_TEST(absolute_path("/").value() == "/");
  BOOST_TEST(absolute_path("./a//b/.").value() == "/home/user/a/b");
  BOOST_TEST(absolute_path("/..a/.b").value() == "/..a/.b");
  BOOST_TEST(absolute_path("/a/../b").value() == "/a/../b");
  BOOST_TEST(!absolute_path("~root/a"));
  BOOST_TEST(!absolute_path(std::string("/a\0b", 4)));
}

BOOST_AUTO_TEST_CASE(one_user_is_there_and_root_is_refused_with_the_reason) {
  BOOST_TEST(!why_no_user(""));
  BOOST_TEST(!why_no_user("user"));
  BOOST_TEST(
    why_no_user("root").value().starts_with("invalid username: 'root'"));
  BOOST_TEST(why_no_user("x").value() == "invalid username: 'x'");
}

BOOST_AUTO_TEST_CASE(an_end_says_how) {
  process_record r;
  r.reason = process_reason::exited;
  BOOST_TEST(process_end_json(r)
             == R"({"event":{"end":{"exitCode":0,"exited":true,)"
                R"("status":"exit status 0"}}})");
  r.exit_code = 3;
  BOOST_TEST(process_end_json(r)
             == R"({"event":{"end":{"exitCode":3,"exited":true,)"
                R"("status":"exit status 3","error":"exit status 3"}}})");
  r.reason = process_reason::signaled;
  r.signal = 15;
  BOOST_TEST(process_end_json(r)
             == R"({"event":{"end":{"exitCode":-1,"exited":false,)"
                R"("status":"signal: terminated",)"
                R"("error":"signal: terminated"}}})");
}

BOOST_AUTO_TEST_CASE(lines_of_the_interpreter_are_ascii) {
  BOOST_TEST(ascii_json("\"\xc3\xa9\"") == "\"\\u00e9\"");
  BOOST_TEST(ascii_json("\xe2\x82\xac") == "\\u20ac");
  BOOST_TEST(ascii_json("\xf0\x9f\x98\x80") == "\\ud83d\\ude00");
}

BOOST_AUTO_TEST_CASE(a_value_shows_in_each_of_its_forms) {
  cell_event e;
  e.what = cell_event::kind::result;
  e.data = {{"text/plain", "'hi'"},
            {"application/json", "[1]"},
            {"application/x-other", "o"}};
  BOOST_TEST(line_of(e)
             == R"({"type":"result","is_main_result":true,"text":"hi",)"
                R"("json":[1],"extra":{"application/x-other":"o"}})");
}

BOOST_AUTO_TEST_SUITE_END()
