#include "runtime/json/big_integers.hpp"
#include "runtime/json/json.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>

namespace json = troupe::json;

BOOST_AUTO_TEST_SUITE(json_parsing)

namespace {

std::string repeated(std::string_view what, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i)
    out += what;
  return out;
}

} // namespace

BOOST_AUTO_TEST_CASE(reads_every_kind_of_value) {
  auto v = json::parse(
    R"( {"n":null,"t":true,"f":false,"i":-5,"u":18446744073709551615,)"
    R"("d":1.5e3,"s":"h\u00e9 \ud83d\ude00\n\/","a":[1,[],{}],"":{}} )");
  BOOST_REQUIRE(v.has_value());
  auto& o = v->as_object();
  BOOST_TEST(o.at("n").is_null());
  BOOST_TEST(o.at("t").as_bool());
  BOOST_TEST(!o.at("f").as_bool());
  BOOST_TEST(o.at("i").as_int64() == -5);
  BOOST_TEST(o.at("u").as_uint64() == 18446744073709551615ull);
  BOOST_TEST(o.at("d").as_double() == 1500.0);
  BOOST_TEST(o.at("s").as_string() == "h\u00e9 \U0001f600\n/");
  BOOST_TEST(o.at("a").as_array().size() == 3u);
  BOOST_TEST(o.at("").as_object().empty());
  BOOST_TEST(json::to_text(*v)
             == R"({"n":null,"t":true,"f":false,"i":-5,)"
                R"("u":18446744073709551615,"d":1500.0,)"
                "\"s\":\"h\u00e9 \U0001f600\\n/\",\"a\":[1,[],{}],\"\":{}}");
}

BOOST_AUTO_TEST_CASE(judges_an_object_as_it_would_parse_it) {
  for (std::string_view text :
       {R"({"a":1,"b":[1.5,{"c":"\u00e9"}]})", " {} ", "[]", "7", "", "{",
        R"({"a":1,"a":2})", R"({"a":1e999})", R"({"a":18446744073709551616})",
        R"({"a":-9223372036854775809})", R"({"a":1e-999})", "{} {}",
        "{\"a\":\"\xff\"}", R"({"a":"\ud800"})"}) {
    const auto parsed = json::parse_object(text);
    const auto judged = json::check_object(text);
    BOOST_TEST(parsed.has_value() == judged.has_value(), text);
    if (!parsed && !judged)
      BOOST_TEST(parsed.error().text == judged.error().text);
  }
}

BOOST_AUTO_TEST_CASE(decodes_every_mixture_of_plain_escaped_and_wide_text) {
  const std::string parts[] = {
    "plain ", "\n", "\xc3\xa9", "\"", "\xf0\x9f\x98\x80", std::string(20, 'x')};
  for (auto& a : parts)
    for (auto& b : parts)
      for (auto& c : parts)
        for (auto& d : parts) {
          auto text = a + b + c + d;
          json::object o;
          o[text] = text;
          BOOST_TEST_REQUIRE((*json::parse(json::to_text(o)) == o));
          BOOST_TEST_REQUIRE((*json::parse(json::to_canonical(o)) == o));
        }
}

BOOST_AUTO_TEST_CASE(reads_the_same_where_the_text_is_a_secret) {
  json::parse_limits secret_text;
  secret_text.wiped = true;
  const std::string large(10'000, 'x'); // more than is set aside
  for (const auto& text :
       {std::string{R"({"a": [1, 2.5, true, null, "b"], "\u0041": "\n\"c"})"},
        R"({"a": ")" + large + R"(", "b": "\t)" + large + R"("})",
        std::string{"[[[]]]"}, std::string{R"({"a": ")"}}) {
    auto open = json::parse(text);
    auto wiped = json::parse(text, secret_text);
    BOOST_REQUIRE(open.has_value() == wiped.has_value());
    if (!open) {
      BOOST_TEST(open.error().text == wiped.error().text);
      continue;
    }
    BOOST_TEST((*open == *wiped));
    // It may be moved to where other values live, and outlive the parser.
    json::object kept;
    kept["x"] = std::move(*wiped);
    BOOST_TEST((kept.at("x") == *open));
    json::wipe_texts(kept.at("x"));
    BOOST_TEST(json::to_text(kept).find("xxx") == std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(refuses_what_rfc_8259_does_not_know) {
  const std::string cases[] = {
    "",
    " ",
    "{",
    "[",
    "]",
    "}",
    "[1,]",
    "[,1]",
    "{\"a\":1,}",
    "{\"a\"}",
    "{\"a\":}",
    "{a:1}",
    "{'a':1}",
    "{1:2}",
    "[1 2]",
    "[1}",
    "{\"a\":1]",
    "nul",
    "nulll",
    "True",
    "NaN",
    "Infinity",
    "-Infinity",
    "+1",
    "-",
    "01",
    "-01",
    "1.",
    ".5",
    "1e",
    "1e+",
    "0x10",
    "1_000",
    "1 1",
    "\"",
    "\"\\\"",
    "\"\\x\"",
    "\"\\u12\"",
    "\"\\u12g4\"",
    "\"\t\"",
    "\"a\nb\"",
    std::string("\"\0\"", 3),
    "\"\\ud800\"",
    "\"\\udc00\"",
    "\"\\ud800\\ud800\"",
    "\"\\ud800x\"",
    "\"\x80\"",
    "\"\xc0\xaf\"",
    "\"\xed\xa0\x80\"",
    "\"\xf4\x90\x80\x80\"",
    "\"\xe2\x82\"",
    "\xef\xbb\xbf{}",
    std::string("\xff\xfe{\0}\0", 6),
    "{}x",
    "{} {}",
    "/* a */ 1",
    "// a\n1",
    "[1]\x0c",
    std::string("1\0", 2),
  };
  for (auto& c : cases) {
    BOOST_TEST_CONTEXT(c) {
      BOOST_TEST(json::parse(c).has_error());
      BOOST_TEST(json::check(c).has_error());
    }
  }
}

BOOST_AUTO_TEST_CASE(refuses_numbers_that_would_change) {
  for (auto c : {"1e999", "-1e999", "18446744073709551616",
                 "-9223372036854775809", "[1,1e400]", "1e99999999999999999999"})
    BOOST_TEST_CONTEXT(c) {
      BOOST_TEST(json::parse(c).has_error());
      // As text they may be handed on: somebody else knows big numbers.
      BOOST_TEST(json::check(c).has_value());
    }
  BOOST_TEST(json::parse(repeated("9", 5000)).has_error());
  BOOST_TEST(json::parse("9223372036854775807")->is_int64());
  BOOST_TEST(json::parse("-9223372036854775808")->is_int64());
  BOOST_TEST(json::parse("9223372036854775808")->is_uint64());
}

BOOST_AUTO_TEST_CASE(keeps_large_integers_where_they_are_handed_on) {
  const std::string big = "18446744073709551616";
  const std::string_view places[] = {"/args", "/items/*/args"};
  for (const std::string& text :
       {R"({"a":1,"args":{"x":)" + big + R"(,"y":[-)" + big + "]}}",
        R"({"args":)" + big + "}",
        R"({"items":[{"args":{}},{"args":{"b":[{"c":)" + big + "}]}}]}"}) {
    auto v = json::parse_large(text, places);
    BOOST_REQUIRE(v.has_value());
    BOOST_TEST(json::exact_text(*v) == text);
    BOOST_TEST(json::parse(text).has_error());
  }
  const std::string refused[] = {R"({"n":)" + big + R"(,"args":{}})",
                                 R"({"b":{"args":)" + big + "}}",
                                 R"({"args":{},"n":)" + big + "}",
                                 R"({"items":{"*":)" + big + "}}",
                                 R"({"items":[{"n":)" + big + "}]}",
                                 "[" + big + "]",
                                 big,
                                 R"({"args":{"d":1e999}})",
                                 R"({"items":[)" + big + "]}"};
  for (const auto& text : refused)
    BOOST_TEST(json::parse_large(text, places).has_error(), text);
  // No text makes one.
  auto text = json::parse("\"" + big + "\"");
  BOOST_TEST(!json::is_large(*text));
  auto number = json::parse_large(big, json::anywhere);
  BOOST_TEST(json::is_large(*number));
  BOOST_TEST(json::to_double(*number) == 18446744073709551616.0);
  BOOST_TEST(json::check_large_object(R"({"a":)" + big + "}").has_value());
  BOOST_TEST(json::check_large_object(R"({"a":1e999})").has_error());
}

BOOST_AUTO_TEST_CASE(rounds_numbers_as_everybody_does) {
  BOOST_TEST(json::parse("1e-999")->as_double() == 0.0);
  BOOST_TEST(json::parse("0.000e-99999999999999999999")->as_double() == 0.0);
  BOOST_TEST(json::parse("0e999")->as_double() == 0.0);
  BOOST_TEST(json::parse("0." + repeated("0", 500) + "1")->as_double() == 0.0);
  BOOST_TEST(json::parse("1" + repeated("0", 400) + "e-400")->as_double()
             == 1.0);
  BOOST_TEST(json::parse("0.1")->as_double() == 0.1);
  BOOST_TEST(json::parse("1.7976931348623157e308")->as_double()
             == 1.7976931348623157e308);
  BOOST_TEST(json::parse("9007199254740993.0")->as_double()
             == 9007199254740992.0);
}

BOOST_AUTO_TEST_CASE(refuses_the_same_name_twice) {
  for (auto c :
       {R"({"a":1,"a":2})", R"({"a":1,"\u0061":2})", R"({"\u0061":1,"a":2})",
        R"([{"x":{"b":1,"c":2,"b":3}}])", R"({"":1,"":2})"})
    BOOST_TEST_CONTEXT(c) {
      BOOST_TEST(json::parse(c).has_error());
      BOOST_TEST(json::check(c).has_error());
    }
  BOOST_TEST(
    json::check(R"({"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]})").has_value());
  BOOST_TEST(json::check(R"({"\n":1,"\t":{"\n":2},"x":3})").has_value());
}

BOOST_AUTO_TEST_CASE(bounds_depth_and_size) {
  BOOST_TEST(json::check(repeated("[", 64) + repeated("]", 64)).has_value());
  BOOST_TEST(json::check(repeated("[", 65) + repeated("]", 65)).has_error());
  BOOST_TEST(json::parse(repeated("[", 100'000)).has_error());
  BOOST_TEST(json::check(repeated("{\"a\":", 100'000)).has_error());
  json::parse_limits small;
  small.bytes = 4;
  BOOST_TEST(json::check("[12]", small).has_value());
  BOOST_TEST(json::check("[123]", small).has_error());
}

BOOST_AUTO_TEST_CASE(says_where_and_why) {
  auto bad = json::parse(R"({"a": tru})");
  BOOST_REQUIRE(bad.has_error());
  BOOST_TEST((bad.error().code == troupe::ec::invalid_request));
  BOOST_TEST(bad.error().text.find("byte 6") != std::string::npos);
  BOOST_TEST(json::parse_object("[]").has_error());
  BOOST_TEST(json::parse_object("{}").has_value());
}

BOOST_AUTO_TEST_CASE(checks_large_hostile_text_in_linear_time) {
  // A hundred thousand names with one long prefix, and then the first again.
  std::string text = "{";
  for (int i = 0; i < 100'000; ++i)
    text += "\"" + std::string(40, 'x') + std::to_string(i) + "\":0,";
  auto fine = text + "\"y\":0}";
  auto twice = text + "\"" + std::string(40, 'x') + "0\":0}";
  BOOST_TEST(json::check(fine).has_value());
  BOOST_TEST(json::parse(fine).has_value());
  BOOST_TEST(json::check(twice).has_error());
  // One that comes early is not looked for at the end.
  auto early = json::parse("{\"a\":1,\"a\":2," + text.substr(1) + "\"y\":0}");
  BOOST_REQUIRE(early.has_error());
  auto at = early.error().text.find("at byte ") + 8;
  BOOST_TEST(std::stoul(early.error().text.substr(at)) < 10'000u,
             early.error().text);
  // Not a measurement: a quadratic check would need minutes for this.
  BOOST_TEST(json::check("\"" + repeated("\\u00e9\xc3\xa9", 1'000'000) + "\"")
               .has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(json_writing)

BOOST_AUTO_TEST_CASE(writes_doubles_as_python_does) {
  const std::pair<double, const char*> cases[] = {
    {0.0, "0.0"},
    {-0.0, "-0.0"},
    {1.0, "1.0"},
    {-1.5, "-1.5"},
    {0.1, "0.1"},
    {1e16, "1e+16"},
    {1e15, "1000000000000000.0"},
    {123456789012345680.0, "1.2345678901234568e+17"},
    {1e-4, "0.0001"},
    {1e-5, "1e-05"},
    {1.5e-7, "1.5e-07"},
    {5e-324, "5e-324"},
    {1.7976931348623157e308, "1.7976931348623157e+308"},
    {1e22, "1e+22"},
    {9007199254740993.0, "9007199254740992.0"},
    {0.00012345, "0.00012345"},
    {100.0, "100.0"},
    {120.5, "120.5"},
  };
  for (auto& [d, text] : cases) {
    BOOST_TEST(json::to_text(json::value(d)) == text);
    BOOST_TEST(json::to_canonical(json::value(d)) == text);
    BOOST_TEST(json::parse(text)->as_double() == d);
  }
}

BOOST_AUTO_TEST_CASE(never_writes_what_json_forbids) {
  BOOST_TEST(json::to_text(json::value(1.0 / 0.0)) == "null");
  BOOST_TEST(json::to_text(json::value(0.0 / 0.0)) == "null");
  BOOST_TEST(json::to_text(json::value("a\xff\x62"))
             == "\"a\xef\xbf\xbd\x62\"");
  BOOST_TEST(json::to_canonical(json::value("\xff")) == "\"\\ufffd\"");
  std::string out;
  json::append_string(out, std::string_view("\0\x1f\"\\\n\x7f", 6));
  BOOST_TEST(out == "\"\\u0000\\u001f\\\"\\\\\\n\x7f\"");
}

BOOST_AUTO_TEST_CASE(sorts_and_escapes_the_canonical_form) {
  auto v = json::parse("{\"b\":1,\"a\":{\"z\":[],\"y\":null},"
                       "\"\xef\xbf\xbd\":1,\"\xf0\x9f\x98\x80\":2,"
                       "\"\xc3\xa9\\u007f\":\"/\"}");
  BOOST_REQUIRE(v.has_value());
  BOOST_TEST(json::to_canonical(*v)
             == R"({"a":{"y":null,"z":[]},"b":1,"\u00e9\u007f":"/",)"
                R"("\ufffd":1,"\ud83d\ude00":2})");
}

BOOST_AUTO_TEST_CASE(repairs_utf8_one_mark_per_damaged_character) {
  const std::string mark = "\xef\xbf\xbd";
  BOOST_TEST(json::repair_utf8("plain \xc3\xa9") == "plain \xc3\xa9");
  BOOST_TEST(json::repair_utf8("\x80") == mark);
  BOOST_TEST(json::repair_utf8("\xe2\x82") == mark);
  BOOST_TEST(json::repair_utf8("\xe2\x82x") == mark + "x");
  BOOST_TEST(json::repair_utf8("\xf0\x9f\x98") == mark);
  BOOST_TEST(json::repair_utf8("\xc0\xaf") == mark + mark);
  BOOST_TEST(json::repair_utf8("\xed\xa0\x80") == mark + mark + mark);
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; b += 3) {
      std::string s{"12345678"};
      s += static_cast<char>(a);
      s += static_cast<char>(b);
      auto fixed = json::repair_utf8(s);
      BOOST_TEST_REQUIRE(json::is_utf8(fixed));
      BOOST_TEST_REQUIRE((fixed == s) == json::is_utf8(s));
    }
}

BOOST_AUTO_TEST_CASE(finds_odd_bytes_at_every_offset) {
  for (std::size_t i = 0; i < 40; ++i)
    for (char odd : {'\x1f', '"', '\\', '\x80', '\xff'}) {
      std::string s(40, 'a');
      s[i] = odd;
      std::string out;
      json::append_string(out, s);
      BOOST_TEST_REQUIRE(json::check(out).has_value());
      BOOST_TEST_REQUIRE(out.size() > 42u);
    }
}

BOOST_AUTO_TEST_CASE(escapes_names_in_pointers) {
  BOOST_TEST(json::child("", "a") == "/a");
  BOOST_TEST(json::child("/a", "b/c~d") == "/a/b~1c~0d");
  BOOST_TEST(json::child("/a", std::size_t{3}) == "/a/3");
}

BOOST_AUTO_TEST_SUITE_END()
