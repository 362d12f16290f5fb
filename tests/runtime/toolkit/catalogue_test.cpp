#include "runtime/json/json.hpp"
#include "runtime/toolkit/catalogue.hpp"

#include <boost/test/unit_test.hpp>

#include <set>

using namespace troupe;
using namespace troupe::toolkit;

BOOST_AUTO_TEST_SUITE(catalogue_of_tools)

namespace {

/// The keywords that some clients flatten or refuse.
bool is_plain(const json::value& v) {
  if (v.is_array()) {
    for (const auto& each : v.get_array())
      if (!is_plain(each))
        return false;
    return true;
  }
  if (!v.is_object())
    return true;
  for (const auto& [name, value] : v.get_object()) {
    for (std::string_view no :
         {"anyOf", "oneOf", "allOf", "not", "if", "$ref", "$defs"})
      if (std::string_view{name} == no)
        return false;
    if (std::string_view{name} == "type" && !value.is_string()
        && !value.is_object())
      return false;
    if (!is_plain(value))
      return false;
  }
  return true;
}

result<json::object> read(std::string_view tool, std::string_view arguments) {
  return read_arguments(*find_tool(tool),
                        json::parse_object(arguments).value());
}

std::string text_of(std::string_view tool, std::string_view arguments) {
  auto fine = read(tool, arguments);
  BOOST_REQUIRE_MESSAGE(fine, to_string(fine.error()));
  return json::to_canonical(json::value(*fine));
}

} // namespace

BOOST_AUTO_TEST_CASE(all_have_what_clients_and_models_take) {
  std::set<std::string_view> names;
  for (const auto& each : catalogue()) {
    const auto& e = each.entry;
    BOOST_TEST(names.insert(e.name).second, e.name);
    BOOST_TEST((e.name.size() < 24 && !e.name.empty()), e.name);
    BOOST_TEST(e.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_")
                 == e.name.npos,
               e.name);
    BOOST_TEST(!e.title.empty(), e.name);
    BOOST_TEST(!e.description.empty(), e.name);
    BOOST_TEST(is_plain(json::value(each.schema)), e.name);
    BOOST_TEST(each.schema.at("properties").get_object().contains("session_id"),
               e.name);
    for (const auto& required : each.schema.at("required").get_array())
      BOOST_TEST(each.schema.at("properties")
                   .get_object()
                   .contains(required.get_string()),
                 e.name);
    BOOST_TEST((!e.hint('R') || !e.hint('D')), e.name);
    if (!e.output.empty())
      BOOST_TEST(json::parse_object(e.output).has_value(), e.name);
  }
  // Some clients call the first one with nothing, to see what comes.
  BOOST_TEST(catalogue().front().entry.name == "file_read");
}

BOOST_AUTO_TEST_CASE(understands_the_names_that_others_give) {
  BOOST_TEST(find_tool("bash")->entry.name == "shell_exec");
  BOOST_TEST(find_tool("read_file")->entry.name == "file_read");
  BOOST_TEST(find_tool("file_raed") == nullptr);
  BOOST_TEST(text_of("file_read", R"({"path":"a"})") == R"({"file":"a"})");
  BOOST_TEST(text_of("shell_exec", R"({"cmd":"ls","timeout":2})")
             == R"({"command":"ls","timeout_ms":2000})");
  BOOST_TEST(text_of("file_edit",
                     R"({"file_path":"a","old_string":"b","new_string":"c"})")
             == R"({"file":"a","new":"c","old":"b"})");
}

BOOST_AUTO_TEST_CASE(null_is_not_given_and_texts_become_numbers) {
  BOOST_TEST(text_of("file_read", R"({"file":"a","start_line":null,
                                      "session_id":null})")
             == R"({"file":"a"})");
  BOOST_TEST(text_of("file_read", R"({"file":"a","start_line":"5"})")
             == R"({"file":"a","start_line":5})");
}

BOOST_AUTO_TEST_CASE(says_every_mistake_at_once) {
  auto wrong = read("file_read", R"({"fil":"a","line_count":-1})");
  BOOST_REQUIRE(!wrong);
  std::string said;
  for (const auto& each : wrong.error().fields)
    said += each.pointer + " ";
  BOOST_TEST(wrong.error().fields.size() >= 3u, said);
  BOOST_TEST(said.find("/line_count") != said.npos, said);
  BOOST_TEST(said.find("/fil") != said.npos, said);
  auto offset = read("file_read", R"({"file":"a","offset":0})");
  BOOST_REQUIRE(!offset);
  BOOST_TEST(offset.error().fields.at(0).hint
             == "use start_line (1 is the first line)");
}

BOOST_AUTO_TEST_CASE(a_missing_argument_is_a_mistake_and_no_crash) {
  for (const auto& each : catalogue())
    for (std::string_view hostile :
         {"{}", R"({"file":1})", R"({"file":{"a":[]}})", R"({"command":null})",
          R"({"session_id":[]})", R"({"x":1,"y":2})"})
      (void)read_arguments(each, json::parse_object(hostile).value());
  BOOST_TEST(!read("file_read", "{}"));
}

BOOST_AUTO_TEST_SUITE_END()
