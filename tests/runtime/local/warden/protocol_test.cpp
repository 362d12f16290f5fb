#include "runtime/local/warden/protocol.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::warden;

BOOST_AUTO_TEST_SUITE(warden_protocol)

namespace {

/// One of each kind, with something in every member that travels.
std::vector<message> one_of_each() {
  std::vector<message> all;
  for (auto what :
       {word::start, word::kill, word::stop, word::lease, word::release,
        word::spawn_interpreter, word::hello, word::started, word::ended,
        word::released, word::leased, word::keep}) {
    auto& m = all.emplace_back();
    m.what = what;
    m.ticket = 7;
    m.start.ticket = 7;
    m.start.level = isolation_level::strict;
    m.start.has_channel = m.start.notify_network = true;
    m.start.working_dir = "/work";
    m.start.shown.push_back({"/opt/host", "/opt", true});
    m.argv = {"/usr/bin/python3", "-I"};
    m.grant.ticket = 7;
    m.grant.groups = 2;
    m.grant.has_events = true;
    m.end.ticket = 7;
    m.end.failure = {isolation::step::exec, 2};
    m.end.memory_exceeded = true;
    m.end.detail = "why";
    m.hello.layers.push_back(
      {"seccomp", layer_state::degraded, true, "reason", "advice"});
  }
  return all;
}

} // namespace

BOOST_AUTO_TEST_CASE(says_each_word_so_that_it_is_heard) {
  for (const auto& m : one_of_each()) {
    message heard;
    BOOST_REQUIRE(decode(encode(m), heard));
    BOOST_TEST((heard.what == m.what));
    BOOST_TEST(encode(heard) == encode(m));
  }
  message lease;
  BOOST_REQUIRE(decode(encode(one_of_each()[3]), lease));
  BOOST_TEST(lease.start.shown.at(0).inside == "/opt");
  BOOST_TEST(lease.start.shown.at(0).writable);
  message ended;
  BOOST_REQUIRE(decode(encode(one_of_each()[8]), ended));
  BOOST_TEST((ended.end.failure.at == isolation::step::exec));
  BOOST_TEST(ended.end.memory_exceeded);
  BOOST_TEST(!ended.end.killed);
}

BOOST_AUTO_TEST_CASE(refuses_what_is_not_exactly_one_message) {
  for (const auto& m : one_of_each()) {
    const auto whole = encode(m);
    message heard;
    for (std::size_t n = 0; n < whole.size(); ++n)
      BOOST_TEST(!decode(whole.substr(0, n), heard));
    BOOST_TEST(!decode(whole + '\0', heard));
    auto other = whole;
    other[0] ^= 1; // somebody else's magic
    BOOST_TEST(!decode(other, heard));
  }
}

BOOST_AUTO_TEST_CASE(refuses_values_that_no_warden_knows) {
  const auto spoil = [](word what, std::size_t at, char value) {
    message m, heard;
    m.what = what;
    auto packet = encode(m);
    packet.at(at) = value;
    return !decode(packet, heard);
  };
  constexpr std::size_t head = 6, ticket = 8;
  BOOST_TEST(spoil(word::stop, 4, 0));
  BOOST_TEST(spoil(word::stop, 4, 99));                // a word
  BOOST_TEST(spoil(word::start, head + ticket, 9));    // a level
  BOOST_TEST(spoil(word::ended, head + ticket, 0x7f)); // a step
  // A list that would be longer than the packet.
  BOOST_TEST(spoil(word::spawn_interpreter, head + ticket + 1, '\x10'));
}

BOOST_AUTO_TEST_SUITE_END()
