// Ranges, archives and events of the files of sandboxes, on the wire.
#include "tests/support/http/http_server.hpp"

using namespace troupe;
using test::http_house;
using test::raw_client;

BOOST_AUTO_TEST_SUITE(sandbox_trees_api)

namespace {

struct tree_house : http_house {
  tree_house() {
    auto made = post("/v1/sandboxes", "{}");
    BOOST_REQUIRE_MESSAGE(made.status == 201, made.body);
    one = "/v1/sandboxes/"
      + std::string{json::parse_object(made.body)->at("id").as_string()};
    test::ask(port, "PUT", one + "/files/content?path=/tmp/a", "0123456789");
  }
  test::raw_answer range(const std::string& fields) {
    return get(one + "/files/content?path=/tmp/a", fields);
  }
  std::string put(const std::string& fields) const {
    return "PUT " + one + "/files/archive?path=/tmp/x HTTP/1.1\r\n"
      + "Host: localhost\r\n" + fields + "\r\n";
  }
  test::fake_trees& trees() { return sandboxes.all_trees; }
  std::string one;
};

} // namespace

BOOST_AUTO_TEST_CASE(a_range_is_answered_with_where_it_lies) {
  tree_house house;
  struct row {
    std::string asked;
    int status;
    std::string body;
    std::string where;
  };
  for (const auto& [asked, status, body, where] :
       {row{"bytes=0-3", 206, "0123", "bytes 0-3/10"},
        row{"Bytes=8-", 206, "89", "bytes 8-9/10"},
        row{"bytes=-3", 206, "789", "bytes 7-9/10"},
        row{"bytes=-99", 206, "0123456789", "bytes 0-9/10"},
        row{"bytes=9-99", 206, "9", "bytes 9-9/10"},
        row{"bytes=10-", 416, "", "bytes */10"},
        row{"bytes=-0", 416, "", "bytes */10"},
        // What need not be answered is not.
        row{"bytes=3-1", 200, "0123456789", ""},
        row{"bytes=0-1,3-4", 200, "0123456789", ""},
        row{"lines=0-1", 200, "0123456789", ""},
        row{"bytes=-", 200, "0123456789", ""},
        row{"bytes=a-b", 200, "0123456789", ""}}) {
    auto a = house.range("Range: " + asked + "\r\n");
    BOOST_TEST(a.status == status, asked);
    BOOST_TEST(a.fields["content-range"] == where, asked);
    if (status != 416)
      BOOST_TEST(a.body == body, asked);
  }
  BOOST_TEST(house.range("Range: bytes=0-3\r\nIf-Range: \"x\"\r\n").status
             == 200);
}

BOOST_AUTO_TEST_CASE(an_archive_comes_in_chunks_and_whole_or_cut) {
  tree_house house;
  house.trees().packed = std::string(300'000, 'x');
  auto a = house.get(house.one + "/files/archive?path=/tmp/a");
  BOOST_TEST(a.status == 200);
  BOOST_TEST(a.fields["content-type"] == "application/x-tar");
  BOOST_TEST(a.whole);
  BOOST_TEST((a.body == house.trees().packed));
  auto missing = house.get(house.one + "/files/archive?path=/tmp/none");
  BOOST_TEST(missing.status == 404);
  test::ask(house.port, "PUT", house.one + "/files/content?path=/tmp/bad", "x");
  auto cut = house.get(house.one + "/files/archive?path=/tmp/bad");
  BOOST_TEST(!cut.whole);
}

BOOST_AUTO_TEST_CASE(an_archive_goes_in_however_its_body_is_framed) {
  tree_house house;
  const std::string text(200'000, 'y');
  {
    raw_client c{house.port};
    c.send(house.put("Content-Length: " + std::to_string(text.size())
                     + "\r\nExpect: 100-continue\r\n"));
    BOOST_TEST(c.read().status == 100);
    c.send(text);
    auto a = c.read();
    BOOST_TEST(a.status == 200, a.body);
    BOOST_TEST((house.trees().unpacked() == text));
  }
  raw_client c{house.port};
  c.send(house.put("Transfer-Encoding: chunked\r\n"));
  for (const char* chunk : {"3\r\nabc\r\n", "1\r", "\nd\r\n0\r\n\r\n"})
    c.send(chunk);
  auto a = c.read();
  BOOST_TEST(a.status == 200, a.body);
  BOOST_TEST(house.trees().unpacked() == "abcd");
  BOOST_TEST(json::parse_object(a.body)->at("bytes").as_int64() == 4);
  BOOST_TEST(c.ends());
}

BOOST_AUTO_TEST_CASE(what_is_no_archive_is_refused_before_all_of_it_came) {
  tree_house house;
  raw_client c{house.port};
  c.send(house.put("Content-Length: 100000\r\n") + "bad");
  auto a = c.read();
  BOOST_TEST(a.status == 422);
  BOOST_TEST(a.body.find("no tar archive") != std::string::npos);
  raw_client broken{house.port};
  broken.send(house.put("Transfer-Encoding: chunked\r\n") + "x\r\n");
  BOOST_TEST(broken.ends());
  BOOST_TEST(broken.rest() == "");
}

BOOST_AUTO_TEST_CASE(what_happens_is_told_until_the_client_goes) {
  tree_house house;
  auto& watch = *house.trees().watched;
  {
    raw_client c{house.port};
    c.send("GET " + house.one
           + "/files/watch?path=/tmp HTTP/1.1\r\nHost: localhost\r\n\r\n");
    BOOST_TEST(c.sees("200 OK"));
    watch.tell({file_event::kind::created, "/tmp/x", {}});
    BOOST_TEST(c.sees(R"({"type":"created","path":"/tmp/x"})"));
    watch.tell({file_event::kind::moved, "/tmp/x", "/tmp/y"});
    BOOST_TEST(c.sees(R"({"type":"moved","path":"/tmp/x","to":"/tmp/y"})"));
    watch.tell({file_event::kind::overflow, "/tmp", {}});
    BOOST_TEST(c.sees(R"("type":"overflow")"));
  }
  const auto limit
    = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (!watch.is_closed() && std::chrono::steady_clock::now() < limit)
    std::this_thread::yield();
  BOOST_TEST(watch.is_closed());
}

BOOST_AUTO_TEST_SUITE_END()
