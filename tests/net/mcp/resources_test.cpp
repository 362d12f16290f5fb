// Files of sessions as resources.
#include "tests/net/mcp/mcp_house.hpp"

using namespace troupe;
using test::mcp_house;

BOOST_AUTO_TEST_SUITE(mcp_resources)

namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

std::string read(mcp_house& house, const std::string& uri) {
  return house.modern("resources/read", R"("uri":")" + uri + "\"", uri).body;
}

constexpr std::string_view chat = "Troupe-Session: chat:1\r\n";

} // namespace

BOOST_AUTO_TEST_CASE(sessions_and_their_files_are_listed) {
  mcp_house house;
  BOOST_TEST(has(house.modern("resources/list").body, R"("resources":[])"));
  house.call("file_write", R"({"file":"out.csv","content":"a,b\n"})", chat);
  const auto all = house.modern("resources/list").body;
  BOOST_TEST(has(all, R"("uri":"troupe://chat%3A1/files/")"), all);
  BOOST_TEST(has(all, R"("uri":"troupe://chat%3A1/files/out.csv")"), all);
  BOOST_TEST(has(all, R"("cacheScope":"private")"), all);
  BOOST_TEST(has(house.modern("resources/templates/list").body,
                 "troupe://{session}/files/{+path}"));
}

BOOST_AUTO_TEST_CASE(texts_are_read_as_text_and_bytes_as_base64) {
  mcp_house house;
  house.call("file_write", R"({"file":"out.csv","content":"a,b\n"})", chat);
  house.call("file_write",
             R"({"file":"a.zip","content":"UEsDBAAA","encoding":"base64"})",
             chat);
  const auto text = read(house, "troupe://chat%3A1/files/out.csv");
  BOOST_TEST(has(text, R"("mimeType":"text/csv","text":"a,b\n")"), text);
  const auto bytes = read(house, "troupe://chat%3A1/files/a.zip");
  BOOST_TEST(has(bytes, R"("mimeType":"application/zip","blob":"UEsDBAAA")"),
             bytes);
}

BOOST_AUTO_TEST_CASE(addresses_are_decoded_once_and_never_climb) {
  mcp_house house;
  house.call("file_write", R"({"file":"/etc/x","content":"no"})", chat);
  for (auto hostile :
       {"troupe://chat%3A1/files/../../etc/x",
        "troupe://chat%3A1/files/%2e%2e/%2e%2e/etc/x",
        "troupe://chat%3A1/files/a%00b", "troupe://chat%3A1/other",
        "troupe:///files/x", "file:///etc/passwd", "http://x/files/y",
        "troupe://chat%253A1/files/out.csv"}) {
    const auto said = read(house, hostile);
    BOOST_TEST(has(said, "Resource not found"), hostile << said);
  }
}

BOOST_AUTO_TEST_CASE(addresses_are_completed) {
  mcp_house house;
  house.call("file_write", R"({"file":"source.py","content":"x"})", chat);
  const auto ask = [&](std::string_view argument) {
    return house
      .modern(
        "completion/complete",
        R"("ref":{"type":"ref/resource","uri":"troupe://{session}/files/{+path}"},"argument":)"
          + std::string{argument})
      .body;
  };
  const auto names = ask(R"({"name":"session","value":"ch"})");
  BOOST_TEST(has(names, R"("values":["chat:1"],"total":1,"hasMore":false)"),
             names);
  const auto files = ask(R"({"name":"path","value":"so"},
             "context":{"arguments":{"session":"chat:1"}})");
  BOOST_TEST(has(files, R"("values":["source.py"])"), files);
  BOOST_TEST(has(ask(R"({"name":"path","value":"../"},
                        "context":{"arguments":{"session":"chat:1"}})"),
                 R"("values":[])"));
}

BOOST_AUTO_TEST_SUITE_END()
