#include "runtime/local/output_capture.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <vector>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(capturing_output)

struct captured {
  captured() {
    BOOST_REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    capture.emplace(io.get_executor(), ends[0], 1'000);
    capture->start([this](std::string_view text) { told.emplace_back(text); });
    BOOST_REQUIRE(capture->watch(std::make_shared<int>(0)));
  }
  ~captured() {
    capture->finish();
    ::close(ends[1]);
  }
  void write(std::string_view text) {
    BOOST_REQUIRE(::write(ends[1], text.data(), text.size())
                  == static_cast<ssize_t>(text.size()));
    io.restart();
    io.poll();
  }

  boost::asio::io_context io;
  int ends[2];
  std::optional<output_capture> capture;
  std::vector<std::string> told;
};

BOOST_FIXTURE_TEST_CASE(tells_a_line_that_comes_in_pieces_once, captured) {
  for (const char* text : {"tick", " ", "1", "\n"})
    write(text);
  BOOST_TEST((told == std::vector<std::string>{"tick 1\n"}));
  write("next\n");
  BOOST_TEST(told.back() == "next\n");
}

BOOST_FIXTURE_TEST_CASE(tells_a_line_without_an_end_soon, captured) {
  write("working");
  BOOST_TEST(told.empty());
  while (told.empty()) { // the timer's 10 ms
    io.restart();
    io.run_one();
  }
  BOOST_TEST(told.back() == "working");
}

BOOST_FIXTURE_TEST_CASE(tells_what_is_left_at_the_end, captured) {
  write("no line");
  capture->finish();
  BOOST_TEST((told == std::vector<std::string>{"no line"}));
  BOOST_TEST(capture->take() == "no line");
}

BOOST_AUTO_TEST_SUITE_END()
