#include "runtime/json/reader.hpp"

#include <boost/test/unit_test.hpp>

namespace json = troupe::json;

BOOST_AUTO_TEST_SUITE(json_reader)

BOOST_AUTO_TEST_CASE(reads_members_of_every_type) {
  auto o = *json::parse_object(
    R"({"s":"x","b":true,"i":5.0,"n":1,"o":{},"a":[1],"null":null,"e":"red"})");
  json::reader in{o};
  BOOST_TEST(in.required_text("s") == "x");
  BOOST_TEST(*in.boolean("b"));
  BOOST_TEST(*in.integer("i", 0, 10) == 5);
  BOOST_TEST(*in.number("n", 0, 2) == 1.0);
  BOOST_TEST(in.member_object("o") != nullptr);
  BOOST_TEST(in.member_array("a") != nullptr);
  BOOST_TEST(!in.text("null").has_value());
  BOOST_TEST(in.member("null")->is_null());
  BOOST_TEST(*in.one_of("e", {"red", "green"}) == "red");
  BOOST_TEST(!in.boolean("absent").has_value());
  BOOST_TEST(!in.finish().has_value());
}

BOOST_AUTO_TEST_CASE(collects_every_complaint_with_its_pointer) {
  auto o = *json::parse_object(
    R"({"s":5,"i":1.5,"big":18446744073709551615,"r":11,"e":"blue","lnog":"abc",
        "wierd":1})");
  json::reader in{o, "/x"};
  in.text("s");
  in.integer("i");
  in.integer("big");
  in.integer("r", 0, 10);
  in.one_of("e", {"red", "green"});
  in.text("long", {.max = 2});
  in.required_text("must");
  in.text("weird");
  auto bad = in.finish();
  BOOST_REQUIRE(bad.has_value());
  std::string all;
  for (auto& f : bad->fields)
    all += f.pointer + ": " + f.reason + "; " + f.hint + "\n";
  BOOST_TEST(all
             == "/x/s: expected a string, not an integer; \n"
                "/x/i: expected an integer, not a number; \n"
                "/x/big: must be from -9223372036854775808 to "
                "9223372036854775807; \n"
                "/x/r: must be from 0 to 10; \n"
                "/x/e: 'blue' is not known; one of red, green\n"
                "/x/must: is missing; it must be a string\n"
                "/x/lnog: unknown member; did you mean 'long'?\n"
                "/x/wierd: unknown member; did you mean 'weird'?\n");
  BOOST_TEST(bad->text.find("(and 7 more)") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(says_what_to_send_for_a_name_of_another_interface) {
  constexpr json::reader::alias elsewhere[]{{"timeout", "wall"}};
  auto o = *json::parse_object(R"({"Timeout": 1, "c": 2})");
  json::reader in{o};
  in.knows_elsewhere(elsewhere);
  in.integer("wall");
  in.integer("a"); // one letter that differs is another word
  auto bad = in.finish();
  BOOST_REQUIRE(bad.has_value());
  BOOST_TEST(bad->fields.at(0).hint == "send wall");
  BOOST_TEST(bad->fields.at(1).hint == "remove it");
}

BOOST_AUTO_TEST_CASE(says_what_is_wrong_with_a_member_before_the_whole) {
  auto o = *json::parse_object(R"({"tool": "add"})");
  json::reader in{o};
  in.text("tool_name");
  in.absorb(troupe::bad_field("", "does not name anything to run"));
  auto bad = in.finish();
  BOOST_REQUIRE(bad.has_value());
  BOOST_TEST(bad->fields.at(0).pointer == "/tool");
  BOOST_TEST(bad->fields.at(1).pointer == "");
}

BOOST_AUTO_TEST_CASE(answers_a_flood_of_unknown_names_briefly) {
  json::object o;
  for (int i = 0; i < 10'000; ++i)
    o["name" + std::to_string(i)] = i;
  json::reader in{o};
  in.text("known");
  auto bad = in.finish();
  BOOST_REQUIRE(bad.has_value());
  BOOST_TEST(bad->fields.size() == 32u);
}

BOOST_AUTO_TEST_CASE(takes_over_nested_complaints) {
  json::object o;
  json::reader in{o};
  in.absorb(troupe::bad_field("/limits/wall", "is odd"));
  troupe::error bare;
  bare.text = "no field";
  in.absorb(bare);
  auto bad = in.finish_lenient();
  BOOST_REQUIRE(bad.has_value());
  BOOST_TEST(bad->fields.size() == 2u);
  BOOST_TEST(bad->fields[0].pointer == "/limits/wall");
  BOOST_TEST(bad->fields[1].reason == "no field");
}

BOOST_AUTO_TEST_CASE(finds_the_nearest_name) {
  std::vector<std::string_view> known{"tool_name", "tool_id", "source",
                                      "sandbox_config_id", "env"};
  BOOST_TEST(json::nearest("toolName", known) == "tool_name");
  BOOST_TEST(json::nearest("tool-name", known) == "tool_name");
  BOOST_TEST(json::nearest("TOOL_ID", known) == "tool_id");
  BOOST_TEST(json::nearest("suorce", known) == "source");
  BOOST_TEST(json::nearest("evn", known) == "env");
  BOOST_TEST(json::nearest("sandbox_confg", known) == "sandbox_config_id");
  BOOST_TEST(json::nearest("banana", known) == "");
  BOOST_TEST(json::nearest("", known) == "");
  BOOST_TEST(json::nearest(std::string(100'000, 'a'), known) == "");
}

BOOST_AUTO_TEST_SUITE_END()
