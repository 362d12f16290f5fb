#include "runtime/model/codec/codec.hpp"
#include "runtime/model/run_files.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(run_files)

BOOST_AUTO_TEST_CASE(names_stay_below_the_directory) {
  for (const char* fine : {"a", "a.csv", "data/in.csv", ".env", "a b", "..a"})
    BOOST_TEST(!!check_file_name(fine, "/files"), fine);
  const std::string bad[]{"",
                          "/a",
                          "..",
                          "a/../b",
                          "a//b",
                          "a/",
                          ".",
                          "./a",
                          "\xff",
                          std::string("a\0b", 3),
                          std::string(256, 'a'),
                          std::string(1'025, '/')};
  for (const auto& name : bad)
    BOOST_TEST(!check_file_name(name, "/files"), name);
}

BOOST_AUTO_TEST_CASE(a_body_has_texts_and_bytes) {
  auto r = parse_run_request(json::parse_object(
                               R"({"source":"x","outputs":["*.png"],"files":{
        "a.txt":"text","b.bin":{"base64":"/wA="}}})")
                               .value());
  BOOST_REQUIRE(r.has_value());
  BOOST_TEST(r->outputs.at(0) == "*.png");
  BOOST_REQUIRE(r->files.size() == 2u);
  BOOST_TEST(r->files[0].content == "text");
  BOOST_TEST(r->files[1].content == std::string("\xff\0", 2));
  auto back = from_wire(to_wire(*r));
  BOOST_REQUIRE(back.has_value());
  BOOST_TEST((back->files == r->files));
  BOOST_TEST((back->outputs == r->outputs));
}

BOOST_AUTO_TEST_CASE(refuses_what_is_not_a_file) {
  const std::pair<const char*, const char*> cases[]{
    {R"({"../a":"x"})", "/files/..~1a"},
    {R"({"a":5})", "/files/a"},
    {R"({"a":{"base64":"%"}})", "/files/a"},
    {R"({"a":{"base64":"","x":1}})", "/files/a"},
    {R"({"a":{}})", "/files/a"},
    {R"([])", "/files"}};
  for (const auto& [files, pointer] : cases) {
    auto body = json::parse_object(R"({"source":"x","files":)"
                                   + std::string{files} + "}");
    auto r = parse_run_request(*body);
    BOOST_REQUIRE_MESSAGE(!r, files);
    BOOST_REQUIRE(!r.error().fields.empty());
    BOOST_TEST(r.error().fields[0].pointer == pointer);
  }
}

BOOST_AUTO_TEST_CASE(a_result_travels_with_its_files) {
  run_result r;
  r.id = run_id::make();
  r.reason = exit_reason::exited;
  r.value_encoding = "base64";
  r.value_json = R"("/w==")";
  r.files = {{"a.txt", "text/plain", 4, "text", false},
             {"b.bin", "application/octet-stream", 2, "\xff\x01", false},
             {"d/c d.bin", "application/octet-stream", 9, "", true}};
  r.displays = {{{"image/png", "\x89PNG"},
                 {"text/html", "<b>"},
                 {"application/json", R"({"a":1})"}}};
  auto text = to_json_text(r);
  BOOST_TEST(text.find(R"("text":"text")") != text.npos);
  BOOST_TEST(text.find(R"("base64":"/wE=")") != text.npos);
  BOOST_TEST(text.find(R"("url":"/v1/runs/)" + r.id.str()
                       + R"(/files?name=d/c%20d.bin")")
             != text.npos);
  BOOST_TEST(text.find(R"("application/json":{"a":1})") != text.npos);
  for (const auto& each : {text, to_wire_text(r), to_stored_text(r)}) {
    auto back = parse_run_result(json::parse_object(each).value());
    BOOST_REQUIRE(back.has_value());
    BOOST_TEST((back->files == r.files));
    BOOST_TEST((back->displays == r.displays));
    BOOST_TEST(back->value_encoding == "base64");
  }
}

BOOST_AUTO_TEST_CASE(a_record_leaves_large_contents_out) {
  run_result r;
  r.id = run_id::make();
  r.files = {{"a", "text/plain", 1u << 20, std::string(1u << 20, 'x'), false}};
  BOOST_TEST(to_stored_text(r).size() < 10'000u);
  BOOST_TEST(to_wire_text(r).size() > 1u << 20);
}

BOOST_AUTO_TEST_SUITE_END()
