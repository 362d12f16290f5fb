#include "runtime/runner/frame.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe::frame;

BOOST_AUTO_TEST_SUITE(frames)

namespace {

message sample() {
  message m;
  m.what = kind::answer;
  m[part::head] = R"({"status":"success"})";
  m[part::body] = std::string("\"a\0b\"", 5);
  m[part::code] = "x";
  return m;
}

constexpr std::size_t limit = 1u << 20;

} // namespace

BOOST_AUTO_TEST_CASE(a_frame_survives_the_way) {
  auto bytes = encode(sample()).value();
  auto back = decode(kind::answer, bytes, limit).value();
  BOOST_TEST(back.parts == sample().parts, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_frame_may_come_byte_by_byte) {
  auto bytes = encode(sample()).value();
  reader in{kind::answer, limit};
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i)
    BOOST_REQUIRE(in.feed({&bytes[i], 1}) == reader::state::more);
  BOOST_TEST(in.wanted() == 1u);
  BOOST_TEST((in.feed({&bytes.back(), 1}) == reader::state::complete));
  BOOST_TEST(in.take()[part::head] == R"({"status":"success"})");
}

BOOST_AUTO_TEST_CASE(what_follows_a_frame_is_ignored) {
  auto bytes = encode(sample()).value();
  message second = sample();
  second[part::body] = "\"forged\"";
  auto both = bytes + encode(second).value();
  BOOST_TEST(decode(kind::answer, both, limit).value()[part::body]
             == sample()[part::body]);
}

BOOST_AUTO_TEST_CASE(every_flipped_bit_is_noticed) {
  const auto bytes = encode(sample()).value();
  for (std::size_t i = 0; i < bytes.size() * 8; ++i) {
    auto bad = bytes;
    bad[i / 8] = static_cast<char>(bad[i / 8] ^ (1 << (i % 8)));
    BOOST_TEST(decode(kind::answer, bad, limit).has_error());
  }
}

BOOST_AUTO_TEST_CASE(every_truncation_is_noticed) {
  const auto bytes = encode(sample()).value();
  for (std::size_t n = 0; n < bytes.size(); ++n)
    BOOST_TEST(decode(kind::answer, std::string_view{bytes}.substr(0, n), limit)
                 .has_error());
}

BOOST_AUTO_TEST_CASE(a_length_beyond_the_limit_is_refused_before_its_bytes) {
  auto bytes = encode(sample()).value();
  for (std::size_t i = 8; i < 12; ++i)
    bytes[i] = '\xff';
  reader in{kind::answer, limit};
  BOOST_TEST((in.feed(std::string_view{bytes}.substr(0, header_bytes))
              == reader::state::broken));
  BOOST_TEST(in.why().text.find("more than") != std::string::npos);
  BOOST_TEST(in.wanted() == 0u);
}

BOOST_AUTO_TEST_CASE(the_limit_is_exact) {
  auto bytes = encode(sample()).value();
  BOOST_TEST(decode(kind::answer, bytes, bytes.size()).has_value());
  BOOST_TEST(decode(kind::answer, bytes, bytes.size() - 1).has_error());
}

BOOST_AUTO_TEST_CASE(a_request_is_no_answer) {
  auto m = sample();
  m.what = kind::request;
  BOOST_TEST(decode(kind::answer, encode(m).value(), limit).has_error());
}

BOOST_AUTO_TEST_CASE(the_header_is_spelled_in_one_way) {
  message m; // the numbers that the runners in other languages must produce
  m[part::head] = "{}";
  auto bytes = encode(m).value();
  BOOST_TEST(bytes.substr(0, 8) == std::string("\x7fTRP\1\1\0\0", 8));
  BOOST_TEST(bytes.substr(8, 4) == std::string("\2\0\0\0", 4));
  BOOST_TEST(bytes.size() == header_bytes + 2);
}

BOOST_AUTO_TEST_SUITE_END()
