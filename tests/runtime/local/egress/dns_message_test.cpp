#include "runtime/local/egress/dns_message.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::network;

BOOST_AUTO_TEST_SUITE(dns_messages)

namespace {

std::string u16(unsigned v) {
  return {static_cast<char>(v >> 8), static_cast<char>(v & 0xff)};
}
std::string wire(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    auto label = name.substr(0, name.find('.'));
    out += static_cast<char>(label.size());
    out += label;
    name.remove_prefix(std::min(label.size() + 1, name.size()));
  }
  return out + '\0';
}
std::string header(unsigned flags, unsigned answers, unsigned id = 7) {
  return u16(id) + u16(flags) + u16(1) + u16(answers) + u16(0) + u16(0);
}
std::string question(std::string_view name, unsigned type = dns_type_a) {
  return wire(name) + u16(type) + u16(1);
}
std::string record(const std::string& owner, unsigned type, unsigned ttl,
                   const std::string& data) {
  return owner + u16(type) + u16(1) + u16(ttl >> 16) + u16(ttl & 0xffff)
    + u16(static_cast<unsigned>(data.size())) + data;
}
const std::string asked = "\xc0\x0c"; // a pointer to the question's name
const std::string eight{8, 8, 8, 8};

} // namespace

BOOST_AUTO_TEST_CASE(reads_a_question) {
  auto packet = header(0x0100, 0) + question("WWW.Example.ORG", dns_type_aaaa);
  auto q = parse_dns_query(packet);
  BOOST_REQUIRE(q.has_value());
  BOOST_TEST(q->id == 7);
  BOOST_TEST(q->name == "www.example.org");
  BOOST_TEST(q->type == dns_type_aaaa);
  BOOST_TEST(q->question_end == packet.size());
}

BOOST_AUTO_TEST_CASE(asks_for_room_and_takes_it_back) {
  const auto plain = header(0x0100, 0) + question("a.b");
  const auto roomy = with_room(plain, 4096);
  const std::string opt = '\0' + u16(41) + u16(4096) + std::string(6, '\0');
  auto expected = plain + opt;
  expected[11] = 1;
  BOOST_TEST(roomy == expected);
  BOOST_TEST(with_room(roomy, 1232) == roomy); // once is enough
  BOOST_TEST(without_room(roomy) == plain);
  BOOST_TEST(without_room(plain) == plain);
  // An answer with a record before it, and one of another kind behind it.
  const auto a = record(asked, dns_type_a, 60, eight);
  auto answer = header(0x8180, 1) + question("a.b") + a + opt + a;
  answer[11] = 2;
  auto rest = header(0x8180, 1) + question("a.b") + a + a;
  rest[11] = 1;
  BOOST_TEST(without_room(answer) == rest);
  for (std::size_t n = 0; n < answer.size(); ++n) // cut anywhere
    BOOST_TEST(without_room(answer.substr(0, n)).size() <= n);
}

BOOST_AUTO_TEST_CASE(knows_what_was_cut) {
  auto answer = header(0x8380, 0) + question("a.b");
  BOOST_TEST(is_cut(answer));
  say_whole(answer);
  BOOST_TEST(!is_cut(answer));
  BOOST_TEST(answer == header(0x8180, 0) + question("a.b"));
  BOOST_TEST(!is_cut("xyz"));
}

BOOST_AUTO_TEST_CASE(refuses_questions_that_are_none) {
  const std::string cases[] = {
    "",
    "x",
    header(0x0100, 0),
    header(0x8100, 0) + question("a.b"),               // an answer
    header(0x2800, 0) + question("a.b"),               // an update
    header(0x0100, 0) + wire("a.b") + u16(1),          // cut off
    header(0x0100, 0) + wire("a.b") + u16(1) + u16(3), // another class
    header(0x0100, 0) + asked + u16(1) + u16(1),       // points at itself
    // Ends in a byte of the header, which is another one when it is sent on.
    header(0x0100, 0) + "\1a\xc0\x0b" + u16(1) + u16(1),
    header(0x0100, 0) + "\xc0\xff" + u16(1) + u16(1),
    header(0x0100, 0) + "\x40" + std::string(64, 'a') + '\0' + u16(1) + u16(1),
    header(0x0100, 0) + std::string("\3a.b\0", 5) + u16(1) + u16(1),
    header(0x0100, 0) + std::string("\2\0a\0", 4) + u16(1) + u16(1),
    header(0x0100, 0) + "\5abc",
  };
  for (auto& c : cases)
    BOOST_TEST(parse_dns_query(c).has_error());
  std::string longest;
  for (int i = 0; i < 64; ++i)
    longest += "\3aaa";
  BOOST_TEST(
    parse_dns_query(header(0x0100, 0) + longest + '\0' + u16(1) + u16(1))
      .has_error());
  auto two = header(0x0100, 0) + question("a.b") + question("c.d");
  two[5] = 2;
  BOOST_TEST(parse_dns_query(two).has_error());
}

BOOST_AUTO_TEST_CASE(follows_aliases_to_addresses) {
  auto q = *parse_dns_query(header(0x0100, 0) + question("www.example.org"));
  auto answer = header(0x8180, 4) + question("www.example.org")
    + record(wire("b.cdn.net"), dns_type_a, 30, eight)
    + record(asked, dns_type_cname, 20, wire("A.cdn.net"))
    + record(wire("a.cdn.net"), dns_type_cname, 60, wire("b.cdn.net"))
    + record(wire("other.net"), dns_type_a, 1, eight);
  auto a = parse_dns_answer(answer, q);
  BOOST_REQUIRE(a.has_value());
  BOOST_TEST(a->addresses.size() == 1u); // nothing about other.net
  BOOST_TEST(to_string(a->addresses[0]) == "8.8.8.8");
  BOOST_TEST((a->ttl == std::chrono::seconds{20}));
}

BOOST_AUTO_TEST_CASE(ends_where_aliases_go_in_a_circle) {
  auto q = *parse_dns_query(header(0x0100, 0) + question("a.b"));
  auto a = parse_dns_answer(header(0x8180, 2) + question("a.b")
                              + record(asked, dns_type_cname, 1, wire("c.d"))
                              + record(wire("c.d"), dns_type_cname, 1, asked),
                            q);
  BOOST_REQUIRE(a.has_value());
  BOOST_TEST(a->addresses.empty());
}

BOOST_AUTO_TEST_CASE(takes_no_answer_to_another_question) {
  auto q = *parse_dns_query(header(0x0100, 0) + question("a.b"));
  auto good = record(asked, dns_type_a, 60, eight);
  BOOST_TEST(parse_dns_answer(header(0x8180, 1) + question("a.b") + good, q)
               .has_value());
  BOOST_TEST(parse_dns_answer(header(0x8180, 1, 8) + question("a.b") + good, q)
               .has_error());
  BOOST_TEST(parse_dns_answer(header(0x0100, 1) + question("a.b") + good, q)
               .has_error());
  BOOST_TEST(parse_dns_answer(header(0x8180, 1) + question("a.c") + good, q)
               .has_error());
  BOOST_TEST(parse_dns_answer(
               header(0x8180, 1) + question("a.b", dns_type_aaaa) + good, q)
               .has_error());
}

BOOST_AUTO_TEST_CASE(refuses_broken_records) {
  auto q = *parse_dns_query(header(0x0100, 0) + question("a.b"));
  auto with = [&](std::string record) {
    return parse_dns_answer(header(0x8180, 1) + question("a.b") + record, q);
  };
  auto fine = record(asked, dns_type_a, 60, eight);
  for (std::size_t n = 0; n < fine.size(); ++n)
    BOOST_TEST(with(fine.substr(0, n)).has_error());
  BOOST_TEST(with(record(asked, dns_type_cname, 1, "\3abc")).has_error());
  BOOST_TEST(
    with(record(asked, dns_type_cname, 1, wire("x") + "junk")).has_error());
  // A record of a size that its type does not have is no address.
  BOOST_TEST(with(record(asked, dns_type_a, 1, "12345"))->addresses.empty());
}

BOOST_AUTO_TEST_CASE(answers_with_a_code_and_the_same_question) {
  auto packet = header(0x0100, 0, 0xbeef) + question("no.where")
    + std::string("extra bytes of an OPT record");
  auto q = *parse_dns_query(packet);
  auto answer = refuse_dns_query(packet, q, dns_code::no_such_name);
  auto a = parse_dns_answer(answer, q);
  BOOST_REQUIRE(a.has_value());
  BOOST_TEST((a->code == dns_code::no_such_name));
  BOOST_TEST(answer.size() == q.question_end);
  set_dns_id(answer, 0x0102);
  BOOST_TEST(answer.substr(0, 2) == "\x01\x02");
}

BOOST_AUTO_TEST_SUITE_END()
