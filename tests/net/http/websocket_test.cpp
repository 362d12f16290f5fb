#include "net/http/websocket.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::net {

namespace {

using websocket::kind;
using websocket::message;
using websocket::reader;
using websocket::status;

/// A client's frame that begins with this byte.
std::string masked(std::uint8_t first, std::string_view payload) {
  auto out = websocket::make_frame(kind::binary, payload, {{1, 2, 3, 4}});
  out.front() = static_cast<char>(first);
  return out;
}

std::vector<message> messages_in(std::string_view bytes, std::size_t piece,
                                 reader::progress& last) {
  reader from{1'000};
  std::vector<message> all;
  last = reader::progress::partial;
  for (std::size_t at = 0;
       at < bytes.size() && last != reader::progress::broken; at += piece) {
    from.append(bytes.substr(at, piece));
    for (message next; (last = from.next(next)) == reader::progress::whole;)
      all.push_back(next);
  }
  return all;
}

status wrong_with(std::string_view bytes) {
  reader from{1'000};
  from.append(bytes);
  message ignored;
  auto got = reader::progress::whole;
  while (got == reader::progress::whole)
    got = from.next(ignored);
  BOOST_TEST((got == reader::progress::broken));
  return from.wrong();
}

} // namespace

BOOST_AUTO_TEST_SUITE(websocket_frames)

BOOST_AUTO_TEST_CASE(messages_are_whole_whatever_pieces_they_come_in) {
  const auto bytes = masked(0x82, "binary") + masked(0x01, "he")
    + masked(0x89, "ping") + masked(0x80, "llo") + masked(0x81, "")
    + masked(0x82, std::string(300, 'x')) + masked(0x88, "\x03\xe8");
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    reader::progress last{};
    const auto all = messages_in(bytes, piece, last);
    BOOST_REQUIRE(all.size() == 6u);
    BOOST_TEST((all[0].what == kind::binary));
    BOOST_TEST(all[0].data == "binary");
    BOOST_TEST((all[1].what == kind::ping)); // in the middle of the next one
    BOOST_TEST((all[2].what == kind::text));
    BOOST_TEST(all[2].data == "hello");
    BOOST_TEST(all[3].data.empty());
    BOOST_TEST(all[4].data.size() == 300u);
    BOOST_TEST((all[5].what == kind::close));
  }
}

BOOST_AUTO_TEST_CASE(what_breaks_the_rules_says_which) {
  BOOST_TEST((wrong_with("\x82\x01x") == status::protocol_error)); // no mask
  BOOST_TEST((wrong_with(masked(0xC2, "x")) == status::protocol_error));
  BOOST_TEST((wrong_with(masked(0x83, "x")) == status::protocol_error));
  BOOST_TEST((wrong_with(masked(0x80, "x")) == status::protocol_error));
  BOOST_TEST((wrong_with(masked(0x09, "x")) == status::protocol_error));
  BOOST_TEST((wrong_with(masked(0x89, std::string(126, 'x')))
              == status::protocol_error));
  BOOST_TEST((wrong_with(masked(0x02, "x") + masked(0x82, "y"))
              == status::protocol_error));
  BOOST_TEST((wrong_with(masked(0x81, "\xff")) == status::not_text));
  BOOST_TEST(
    (wrong_with(masked(0x82, std::string(1'001, 'x'))) == status::too_large));
  BOOST_TEST((wrong_with(masked(0x02, std::string(600, 'x'))
                         + masked(0x80, std::string(600, 'x')))
              == status::too_large));
  BOOST_TEST((wrong_with({"\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10})
              == status::too_large));
}

BOOST_AUTO_TEST_CASE(our_frames_have_the_shortest_size) {
  BOOST_TEST(websocket::make_frame(kind::text, "a")
             == "\x81\x01"
                "a");
  BOOST_TEST(websocket::make_frame(kind::binary, std::string(126, 'x'))
               .starts_with(std::string_view{"\x82\x7e\x00\x7e", 4}));
  BOOST_TEST(
    websocket::make_frame(kind::binary, std::string(65'536, 'x'))
      .starts_with(std::string_view{"\x82\x7f\0\0\0\0\0\x01\0\0", 10}));
  BOOST_TEST(websocket::close_frame(status::normal, "bye")
             == "\x88\x05\x03\xe8"
                "bye");
}

BOOST_AUTO_TEST_CASE(what_a_client_makes_a_server_reads_and_the_other_way) {
  const websocket::mask mask{1, 2, 3, 4};
  for (const std::size_t size : {0u, 1u, 125u, 126u, 65'535u, 65'536u}) {
    const std::string sent(size, 'x');
    message came;
    reader server{100'000};
    server.append(websocket::make_frame(kind::binary, sent, mask));
    BOOST_TEST((server.next(came) == reader::progress::whole));
    BOOST_TEST((came.data == sent));
    reader client{100'000, websocket::sender::server};
    client.append(websocket::make_frame(kind::binary, sent));
    BOOST_TEST((client.next(came) == reader::progress::whole));
    BOOST_TEST((came.data == sent));
    client.append(websocket::make_frame(kind::binary, sent, mask));
    BOOST_TEST((client.next(came) == reader::progress::broken));
  }
}

BOOST_AUTO_TEST_CASE(an_answer_is_a_yes_to_its_own_request) {
  const std::string key{"dGhlIHNhbXBsZSBub25jZQ=="};
  BOOST_TEST(websocket::ask(key).find(key) != std::string::npos);
  const std::string yes{"HTTP/1.1 101 Switching Protocols\r\n"
                        "sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="};
  BOOST_TEST(websocket::is_accepted(yes, key));
  BOOST_TEST(!websocket::is_accepted(yes, "another"));
  BOOST_TEST(!websocket::is_accepted("HTTP/1.1 200 OK", key));
}

BOOST_AUTO_TEST_CASE(a_request_is_accepted_by_its_key) {
  request in;
  in.fields = {{"Upgrade", "websocket"},
               {"Connection", "keep-alive, Upgrade"},
               {"Sec-WebSocket-Version", "13"},
               {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}};
  BOOST_TEST(websocket::is_asked_for(in));
  // The example of the RFC.
  BOOST_TEST(websocket::accept(in).find("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
             != std::string::npos);
  in.fields[2].second = "8";
  BOOST_TEST(!websocket::is_asked_for(in));
  in.fields[2].second = "13";
  in.fields[3].second = "short";
  BOOST_TEST(!websocket::is_asked_for(in));
  in.fields.clear();
  BOOST_TEST(!websocket::is_asked_for(in));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::net
