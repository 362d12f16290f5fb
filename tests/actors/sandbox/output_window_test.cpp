#include "actors/sandbox/output_window.hpp"

#include <boost/test/unit_test.hpp>

#include <random>

namespace troupe {

BOOST_AUTO_TEST_SUITE(output_windows)

BOOST_AUTO_TEST_CASE(what_is_there_is_read_from_its_offset_on) {
  output_window w{8};
  w.append("abcdef");
  BOOST_TEST(w.read(0, 100).bytes == "abcdef");
  BOOST_TEST(w.read(2, 3).bytes == "cde");
  BOOST_TEST(w.read(2, 3).next() == 5u);
  BOOST_TEST(w.read(6, 100).bytes == "");
  BOOST_TEST(w.read(6, 100).missed == 0u);
}

BOOST_AUTO_TEST_CASE(what_fell_out_is_counted) {
  output_window w{4};
  w.append("abcdef");
  auto piece = w.read(0, 100);
  BOOST_TEST(piece.bytes == "cdef");
  BOOST_TEST(piece.from == 2u);
  BOOST_TEST(piece.missed == 2u);
  BOOST_TEST(w.read(1, 100).missed == 1u);
}

BOOST_AUTO_TEST_CASE(an_offset_beyond_the_end_reads_nothing) {
  output_window w{4};
  w.append("ab");
  BOOST_TEST(w.read(100, 10).bytes == "");
  BOOST_TEST(w.read(100, 10).from == 2u);
}

BOOST_AUTO_TEST_CASE(a_reader_who_keeps_up_gets_every_byte) {
  std::mt19937 dice{1};
  output_window w{64};
  std::string said, heard;
  std::uint64_t at = 0;
  for (int i = 0; i < 10'000; ++i) {
    std::string some(dice() % 33, static_cast<char>('a' + i % 26));
    said += some;
    w.append(some);
    if (dice() % 2 == 0)
      continue;
    for (;;) {
      auto piece = w.read(at, 1 + dice() % 50);
      heard += std::string(piece.missed, '?') + piece.bytes;
      at = piece.next();
      if (piece.bytes.empty())
        break;
    }
    BOOST_REQUIRE(heard.size() == said.size());
    BOOST_REQUIRE(
      heard.substr(heard.size()
                   - std::min<std::size_t>(heard.size(), some.size()))
      == some);
  }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe
