#include "runtime/local/sandbox/inside/hand_protocol.hpp"
#include "runtime/local/sandbox/inside/keeper_protocol.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::inside;

BOOST_AUTO_TEST_SUITE(sandbox_protocols)

namespace {

std::vector<keeper_message> keeper_words() {
  std::vector<keeper_message> all;
  for (auto what :
       {keeper_word::exec, keeper_word::signal, keeper_word::hand,
        keeper_word::ready, keeper_word::begun, keeper_word::ended,
        keeper_word::connect, keeper_word::ports, keeper_word::connected,
        keeper_word::listening, keeper_word::listener}) {
    auto& m = all.emplace_back();
    m.what = what;
    m.ticket = 7;
    m.has_input = m.may_leave = true;
    m.cwd = "/home/user";
    m.number = 9;
    m.pid = 12;
    m.failure = {isolation::step::exec, 2};
    m.wait_status = 256;
    m.killed = m.lost = true;
    m.cpu_us = 99;
    m.port = 3000;
    m.error = 111;
    m.ports = {80, 3000};
  }
  auto& with_terminal = all.emplace_back(all.front());
  with_terminal.has_input = false;
  with_terminal.terminal = terminal_size{100, 30};
  return all;
}

std::vector<hand_message> hand_words() {
  std::vector<hand_message> all;
  for (auto what : {hand_word::open, hand_word::write, hand_word::list,
                    hand_word::stat, hand_word::make_folder, hand_word::move,
                    hand_word::remove, hand_word::entries, hand_word::done,
                    hand_word::pack, hand_word::unpack, hand_word::search,
                    hand_word::watch, hand_word::matches, hand_word::events}) {
    auto& m = all.emplace_back();
    m.what = what;
    m.path = "/a";
    m.to = "/b";
    m.entries = {{"one", file_kind::folder, 0, {}},
                 {"two", file_kind::link, 5, "../three"}};
    m.name = "*.py";
    m.text = "import";
    m.ignore_case = m.recursive = true;
    m.most = 10;
    m.matches = {{"a/b", file_kind::file, 5, 7, "import os"}};
    m.events
      = {{event_kind::moved, "/a", "/b"}, {event_kind::overflow, "/a", {}}};
    m.count = 3;
    m.whole = false;
    m.about = "a/b";
    m.error = 2;
    m.kind = file_kind::link;
    m.bytes = 10;
  }
  return all;
}

template <class Message>
void check_words(const std::vector<Message>& all) {
  for (const auto& m : all) {
    const auto whole = encode(m);
    Message heard;
    BOOST_REQUIRE(decode(whole, heard));
    BOOST_TEST((heard.what == m.what));
    BOOST_TEST(encode(heard) == whole);
    for (std::size_t n = 0; n < whole.size(); ++n)
      BOOST_TEST(!decode(whole.substr(0, n), heard));
    BOOST_TEST(!decode(whole + '\0', heard));
    auto other = whole;
    other[0] ^= 1;
    BOOST_TEST(!decode(other, heard));
  }
}

} // namespace

BOOST_AUTO_TEST_CASE(say_each_word_so_that_it_is_heard_and_nothing_else) {
  check_words(keeper_words());
  check_words(hand_words());
  keeper_message ended;
  BOOST_REQUIRE(decode(encode(keeper_words()[5]), ended));
  BOOST_TEST((ended.failure.at == isolation::step::exec));
  BOOST_TEST(ended.killed);
  BOOST_TEST(ended.lost);
  BOOST_TEST(ended.cpu_us == 99u);
}

BOOST_AUTO_TEST_CASE(refuse_what_no_sandbox_takes) {
  const auto refuse = [](auto m) { return !decode(encode(m), m); };
  auto words = keeper_words();
  for (int number : {0, -1, 65}) {
    words[1].number = number;
    BOOST_TEST(refuse(words[1]));
  }
  words[0].cwd = "";
  BOOST_TEST(refuse(words[0]));
  words[0].cwd = std::string{"/a\0b", 4};
  BOOST_TEST(refuse(words[0]));
  words[4].pid = 0;
  BOOST_TEST(refuse(words[4]));
  words[5].failure.at = static_cast<isolation::step>(200);
  BOOST_TEST(refuse(words[5]));
  words[6].port = 0;
  BOOST_TEST(refuse(words[6]));
  words[9].ports.resize(max_listed_ports + 1);
  BOOST_TEST(refuse(words[9]));
  auto hands = hand_words();
  for (const auto& path :
       {std::string{}, std::string{"relative"}, std::string{"/a\0b", 4}}) {
    hands[0].path = path;
    BOOST_TEST(refuse(hands[0]));
    hands[5].to = path;
    BOOST_TEST(refuse(hands[5]));
  }
  hands[7].entries[0].name = "a/b";
  BOOST_TEST(refuse(hands[7]));
  hands[8].kind = static_cast<file_kind>(9);
  BOOST_TEST(refuse(hands[8]));
}

BOOST_AUTO_TEST_SUITE_END()
