#include "net/compat/e2b/wire/connect_rpc.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::net::e2b_facade;

BOOST_AUTO_TEST_SUITE(e2b_connect_rpc)

namespace {

constexpr std::size_t largest = 64;

std::vector<envelope> all_of(envelope_reader& reader) {
  std::vector<envelope> out;
  for (;;) {
    auto next = reader.next();
    BOOST_REQUIRE(next);
    if (!*next)
      return out;
    out.push_back(std::move(**next));
  }
}

} // namespace

BOOST_AUTO_TEST_CASE(envelopes_are_the_same_wherever_their_bytes_are_split) {
  const auto bytes
    = envelope_of(R"({"a":1})") + envelope_of("") + envelope_of("{}", true);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    envelope_reader reader{largest};
    reader.feed(std::string_view{bytes}.substr(0, cut));
    auto found = all_of(reader);
    reader.feed(std::string_view{bytes}.substr(cut));
    for (auto& each : all_of(reader))
      found.push_back(std::move(each));
    BOOST_REQUIRE(found.size() == 3u);
    BOOST_TEST(found[0].payload == R"({"a":1})");
    BOOST_TEST(!found[0].end);
    BOOST_TEST(found[1].payload.empty());
    BOOST_TEST(found[2].end);
    BOOST_TEST(reader.between_two());
  }
}

BOOST_AUTO_TEST_CASE(an_envelope_is_refused_before_its_bytes_are_there) {
  for (const auto& head :
       {std::string("\x01\0\0\0\1", 5), std::string("\x04\0\0\0\1", 5),
        std::string("\0\0\0\0\x41", 5), std::string("\0\xff\xff\xff\xff", 5)}) {
    envelope_reader reader{largest};
    reader.feed(head);
    BOOST_TEST(!reader.next());
  }
}

BOOST_AUTO_TEST_CASE(the_end_of_a_stream_that_failed_names_the_code) {
  envelope_reader reader{1'024};
  reader.feed(end_envelope({rpc_code::not_found, "no \"pid\" 7"}));
  const auto end = reader.next();
  BOOST_REQUIRE(end);
  BOOST_REQUIRE(end->has_value());
  BOOST_TEST((*end)->end);
  BOOST_TEST((*end)->payload
             == R"({"error":{"code":"not_found","message":"no \"pid\" 7"}})");
}

BOOST_AUTO_TEST_CASE(every_code_has_a_name_and_a_status) {
  BOOST_TEST(to_string(rpc_code::canceled) == "canceled");
  BOOST_TEST(status_of(rpc_code::canceled) == 499);
  BOOST_TEST(to_string(rpc_code::unauthenticated) == "unauthenticated");
  BOOST_TEST(status_of(rpc_code::unauthenticated) == 401);
  BOOST_TEST(to_string(rpc_code::unimplemented) == "unimplemented");
  BOOST_TEST(status_of(rpc_code::unimplemented) == 501);
}

BOOST_AUTO_TEST_CASE(members_are_read_by_either_spelling) {
  const auto body = json::parse_object(
    R"({"include_entry":true,"pid":"7","n":8,"stdin":"aGk=","none":null})");
  BOOST_REQUIRE(body);
  message_reader in{*body};
  BOOST_TEST(in.boolean("includeEntry").value_or(false));
  BOOST_TEST(in.integer("pid").value_or(0) == 7);
  BOOST_TEST(in.integer("n").value_or(0) == 8);
  BOOST_TEST(in.bytes("stdin").value_or("") == "hi");
  BOOST_TEST(!in.find("none"));
  BOOST_TEST(in.text("absent").empty());
  BOOST_TEST(!in.bad());
}

BOOST_AUTO_TEST_CASE(the_first_mistake_is_told) {
  const auto body
    = json::parse_object(R"({"pid":"x","stdin":"?","depth":"1e3"})");
  BOOST_REQUIRE(body);
  message_reader in{*body};
  BOOST_TEST(!in.bytes("stdin"));
  BOOST_TEST(!in.integer("pid"));
  BOOST_TEST(!in.integer("depth"));
  BOOST_REQUIRE(in.bad());
  BOOST_TEST(in.bad()->message == "stdin must be base64");
}

BOOST_AUTO_TEST_SUITE_END()
