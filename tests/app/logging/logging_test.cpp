#include "app/logging/log_line.hpp"
#include "app/logging/logging.hpp"
#include "runtime/json/json.hpp"

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <string>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(logging_to_a_descriptor)

namespace {

struct pipe_pair {
  int ends[2] = {-1, -1};
  pipe_pair() { BOOST_REQUIRE(::pipe2(ends, O_CLOEXEC) == 0); }
  ~pipe_pair() {
    close_reader();
    ::close(ends[1]);
  }
  void close_reader() {
    if (ends[0] >= 0)
      ::close(ends[0]);
    ends[0] = -1;
  }
  /// Reads until `wanted` was seen, the writer is gone, or ten seconds passed.
  std::string read_until(std::string_view wanted) {
    std::string seen;
    pollfd ready{ends[0], POLLIN, 0};
    while (seen.find(wanted) == seen.npos && ::poll(&ready, 1, 10'000) > 0) {
      char some[4096];
      auto n = ::read(ends[0], some, sizeof some);
      if (n <= 0)
        break;
      seen.append(some, static_cast<std::size_t>(n));
    }
    return seen;
  }
  void fill() {
    auto flags = ::fcntl(ends[1], F_GETFL);
    ::fcntl(ends[1], F_SETFL, flags | O_NONBLOCK);
    std::string dots(4096, '.');
    while (::write(ends[1], dots.data(), dots.size()) > 0) {
    }
    ::fcntl(ends[1], F_SETFL, flags);
  }
};

logging_options to(const pipe_pair& p) {
  logging_options o;
  o.fd = p.ends[1];
  o.least = log::level::debug;
  return o;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

} // namespace

BOOST_AUTO_TEST_CASE(writes_one_json_object_per_line) {
  pipe_pair p;
  logging out{to(p)};
  log::info("warden started\nzygotes",
            {{"count", "2"}, {"name", "a\"b"}, {"status", "unknown"}});
  auto seen = p.read_until("\n");
  BOOST_TEST_REQUIRE(seen.ends_with("\n"));
  auto parsed = json::parse_object(seen);
  BOOST_TEST_REQUIRE(!!parsed, seen);
  BOOST_TEST(parsed->at("message") == "warden started\nzygotes");
  BOOST_TEST(parsed->at("level") == "info");
  BOOST_TEST(parsed->at("count") == 2);
  BOOST_TEST(parsed->at("name") == "a\"b");
  BOOST_TEST(parsed->at("status") == "unknown");
  BOOST_TEST(parsed->at("time").as_string().ends_with("Z"));
}

BOOST_AUTO_TEST_CASE(writes_text_that_stays_on_one_line) {
  log::field more[] = {{"id", "run-1"}, {"why", "a b\n\x1b[2J"}};
  auto line
    = text_line({}, log::level::warning, "run ended\r\x1b[2J", more, false);
  BOOST_TEST(line
             == "00:00:00.000000Z warning run ended\\x0d\\x1b[2J id=run-1 "
                "why=\"a b\\n\\u001b[2J\"\n");
}

BOOST_AUTO_TEST_CASE(says_nothing_below_its_level) {
  pipe_pair p;
  auto options = to(p);
  options.least = log::level::warning;
  logging out{options};
  log::info("too light");
  log::warning("heavy enough");
  BOOST_TEST(!contains(p.read_until("enough"), "too light"));
}

BOOST_AUTO_TEST_CASE(hides_secrets_in_texts_and_in_fields) {
  pipe_pair p;
  logging out{to(p)};
  out.hide(secret{"hunter2\"hunter2"});
  out.hide(secret{"abc"}); // too short to be told from ordinary words
  log::info("key hunter2\"hunter2 and abc",
            {{"value", "xhunter2\"hunter2x"}, {"end", "1"}});
  auto seen = p.read_until("\"end\"");
  BOOST_TEST(contains(seen, "key *** and abc"));
  BOOST_TEST(contains(seen, "x***x"));
  BOOST_TEST(!contains(seen, "hunter2"));
}

BOOST_AUTO_TEST_CASE(hides_every_secret_among_the_settings) {
  pipe_pair p;
  settings s;
  s.e2b.api_key = secret{"e2b_0123456789"};
  s.storage.master_key = secret{"00112233445566"};
  logging out{to(p)};
  out.hide_all(s);
  log::info("e2b_0123456789 00112233445566 end");
  BOOST_TEST(contains(p.read_until("end"), "*** *** end"));
}

BOOST_AUTO_TEST_CASE(hides_a_secret_that_begins_as_another_one_does) {
  for (bool longer_first : {true, false}) {
    pipe_pair p;
    logging out{to(p)};
    const secret longer{"hunter2-and-more"}, shorter{"hunter2"};
    out.hide(longer_first ? longer : shorter);
    out.hide(longer_first ? shorter : longer);
    log::info("key hunter2-and-more ends");
    auto seen = p.read_until("\n");
    BOOST_TEST(seen.find("key *** ends") != seen.npos, seen);
  }
}

BOOST_AUTO_TEST_CASE(hides_every_part_of_a_secret_that_is_a_list) {
  pipe_pair p;
  logging out{to(p)};
  out.hide(secret{"api-key=hunter2hunter2,x-tenant=swordfish"});
  log::info("sent hunter2hunter2 for swordfish, end");
  auto seen = p.read_until("\n");
  BOOST_TEST(seen.find("sent *** for ***, end") != seen.npos, seen);
}

BOOST_AUTO_TEST_CASE(survives_a_reader_that_went_away) {
  auto before = std::signal(SIGPIPE, SIG_DFL);
  pipe_pair p;
  std::uint64_t lost = 0;
  {
    logging out{to(p)};
    log::info("first");
    BOOST_TEST(contains(p.read_until("first"), "first"));
    p.close_reader();
    for (int i = 0; i < 100; ++i)
      log::info("nobody reads this");
    out.flush();
    lost = out.dropped();
  }
  BOOST_TEST(lost == 100u);
  std::signal(SIGPIPE, before);
}

BOOST_AUTO_TEST_CASE(neither_waits_nor_forgets_when_a_pipe_is_full) {
  pipe_pair p;
  p.fill();
  auto options = to(p);
  options.queue = 16;
  logging out{options};
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 10'000; ++i)
    log::info("nobody reads this in time");
  // Ten thousand lines at 200 ms of patience each would take half an hour.
  BOOST_TEST(
    (std::chrono::steady_clock::now() - begin < std::chrono::seconds{20}));
  out.flush();
  BOOST_TEST(out.dropped() == 10'000u);

  // Once somebody reads again, the log itself tells how many were lost.
  BOOST_TEST(contains(p.read_until(std::string(4096, '.')), "."));
  log::info("somebody reads again");
  auto seen = p.read_until("\"count\"");
  BOOST_TEST(contains(seen, "somebody reads again"));
  BOOST_TEST(contains(seen, R"("count":10000)"));
}

BOOST_AUTO_TEST_CASE(does_not_change_the_descriptor_it_was_given) {
  pipe_pair p;
  auto flags = ::fcntl(p.ends[1], F_GETFL);
  logging out{to(p)};
  log::info("line");
  p.read_until("line");
  BOOST_TEST(::fcntl(p.ends[1], F_GETFL) == flags);
}

BOOST_AUTO_TEST_CASE(works_without_any_descriptor_at_all) {
  logging_options options;
  options.fd = 1'000'000;
  logging out{options};
  log::info("into the void");
  out.flush();
  BOOST_TEST(out.dropped() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
