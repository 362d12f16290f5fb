#include "net/http/json_lines.hpp"
#include "net/providers/connect_stream.hpp"
#include "runtime/sandboxes/stdout_frame_splitter.hpp"

#include <boost/test/unit_test.hpp>

#include <vector>

using namespace troupe;
using namespace troupe::net;

BOOST_AUTO_TEST_SUITE(connect_streams)

namespace {

std::string closing(std::string_view json) {
  auto bytes = connect_envelope(json);
  bytes[0] = 2;
  return bytes;
}

} // namespace

BOOST_AUTO_TEST_CASE(reads_envelopes_split_anywhere) {
  auto bytes
    = connect_envelope("{\"a\":1}") + connect_envelope("{}") + closing("{}");
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    std::vector<std::string> got;
    connect_reader reader{[&](std::string_view json) -> result<void> {
      got.emplace_back(json);
      return {};
    }};
    BOOST_TEST(reader.feed(bytes.substr(0, cut)).has_value());
    if (cut < bytes.size())
      BOOST_TEST(reader.feed(bytes.substr(cut)).has_value());
    BOOST_TEST(got.size() == 2u);
    BOOST_TEST(reader.finish().has_value());
  }
}

BOOST_AUTO_TEST_CASE(refuses_what_breaks_the_protocol) {
  auto ignore = [](std::string_view) -> result<void> { return {}; };
  connect_reader huge{ignore};
  BOOST_TEST(!huge.feed(std::string("\0\xff\xff\xff\xff", 5)).has_value());
  connect_reader zipped{ignore};
  BOOST_TEST(!zipped.feed(std::string("\1\0\0\0\0", 5)).has_value());
  connect_reader after{ignore};
  BOOST_TEST(!after.feed(closing("{}") + "x").has_value());
  connect_reader cut{ignore};
  BOOST_TEST(cut.feed(connect_envelope("{}")).has_value());
  BOOST_TEST(!cut.finish().has_value());
}

BOOST_AUTO_TEST_CASE(ends_with_the_error_that_the_stream_carries) {
  connect_reader reader{[](std::string_view) -> result<void> { return {}; }};
  auto end = reader.feed(
    closing(R"({"error":{"code":"not_found","message":"no such user"}})"));
  BOOST_REQUIRE(!end.has_value());
  BOOST_TEST((end.error().code == ec::not_found));
  BOOST_TEST(end.error().text == "not_found: no such user");
}

BOOST_AUTO_TEST_CASE(splits_lines_wherever_they_come_apart) {
  std::string bytes = "{\"t\":\"\xc3\xa4\"}\r\n\n{}\nlast";
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    std::vector<std::string> got;
    line_reader reader{[&](std::string_view line) -> result<void> {
      got.emplace_back(line);
      return {};
    }};
    BOOST_TEST(reader.feed(bytes.substr(0, cut)).has_value());
    BOOST_TEST(reader.feed(bytes.substr(cut)).has_value());
    BOOST_TEST(reader.finish().has_value());
    BOOST_TEST(got.size() == 3u);
    BOOST_TEST(got.back() == "last");
  }
  line_reader bounded{[](std::string_view) -> result<void> { return {}; }, 10};
  BOOST_TEST(!bounded.feed("more than ten bytes").has_value());
}

BOOST_AUTO_TEST_CASE(finds_the_frame_wherever_output_is_cut) {
  std::string key(32, 'a');
  auto frame = "\n=troupe:" + key + ":4:AAAA=\n";
  auto bytes = "before\n" + frame + "after";
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    stdout_frame_splitter out{key, 1'000};
    auto text = out.feed(std::string_view{bytes}.substr(0, cut));
    text += out.feed(std::string_view{bytes}.substr(cut));
    text += out.finish();
    BOOST_TEST(text == "before\nafter");
    BOOST_TEST(out.frame() == frame);
  }
}

BOOST_AUTO_TEST_CASE(hands_on_output_that_only_looks_like_a_frame) {
  stdout_frame_splitter out{std::string(32, 'a'), 1'000};
  std::string bytes = "\n=troupe:" + std::string(32, 'b') + ":4:AAAA=\n\n=tro";
  auto text = out.feed(bytes);
  text += out.finish();
  BOOST_TEST(text == bytes);
  BOOST_TEST(out.frame().empty());
}

BOOST_AUTO_TEST_CASE(gives_up_on_a_frame_beyond_its_bound) {
  std::string key(32, 'a');
  stdout_frame_splitter out{key, 100};
  out.feed("\n=troupe:" + key + ":9999:" + std::string(200, 'A'));
  BOOST_TEST(out.too_large());
  BOOST_TEST(out.frame().empty());
}

BOOST_AUTO_TEST_SUITE_END()
