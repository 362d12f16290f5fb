#include "tests/support/http/http_server.hpp"

#include <sstream>

using namespace troupe;
using test::http_house;
using test::raw_client;

BOOST_AUTO_TEST_SUITE(package_sets_api)

namespace {

const std::string wish = R"({"pip_requirements":["numpy==1.26.4"]})";

std::string request(const std::string& fields) {
  return "POST /v1/package-sets HTTP/1.1\r\nHost: localhost\r\n"
         "Content-Type: application/json\r\nContent-Length: "
    + std::to_string(wish.size()) + "\r\n" + fields + "\r\n" + wish;
}

} // namespace

BOOST_AUTO_TEST_CASE(says_where_a_build_can_be_watched) {
  http_house house;
  auto begun = house.post("/v1/package-sets", wish);
  BOOST_TEST(begun.status == 202);
  auto place = begun.fields["location"];
  BOOST_TEST(place == "/v1/package-sets/f1");
  BOOST_TEST(house.packages.last_wish().pip.at(0).name == "numpy");
  BOOST_TEST(house.get(place).body.find(R"("state":"building")")
             != std::string::npos);
  house.packages.end(environment_state::ready);
  BOOST_TEST(house.post("/v1/package-sets", wish).status == 200);
}

BOOST_AUTO_TEST_CASE(streams_the_installer_s_lines_and_one_end) {
  http_house house;
  raw_client listener{house.port};
  listener.send(request("Accept: application/x-ndjson\r\n"));
  BOOST_TEST(listener.sees("\r\n\r\n")); // the head: it listens
  house.packages.say("Collecting numpy");
  BOOST_TEST(listener.sees("Collecting numpy"));
  house.packages.end(environment_state::failed);
  BOOST_TEST(listener.sees(R"("type":"end")"));
  BOOST_TEST(listener.sees("no such package"));
}

// The end is what a reader came for, however far it is behind.
BOOST_AUTO_TEST_CASE(tells_a_slow_reader_what_it_missed_and_the_end) {
  net::server_options o;
  o.stream_buffer = 64u << 10;
  http_house house{o};
  raw_client listener{house.port};
  listener.send(request("Accept: application/x-ndjson\r\n"));
  BOOST_TEST(listener.sees("\r\n\r\n"));
  constexpr int lines = 40'000; // more than the kernel's buffers take
  for (int i = 0; i < lines; ++i)
    house.packages.say(std::string(1'000, 'x'));
  house.packages.end(environment_state::ready);
  auto all = listener.read();
  std::istringstream text{all.body};
  int whole = 0, left_out = 0, ends = 0;
  for (std::string line; std::getline(text, line);) {
    auto at = line.find("... ");
    if (at != line.npos)
      left_out += std::stoi(line.substr(at + 4));
    else if (line.find("xxx") != line.npos)
      ++whole;
    else
      ends += line.find(R"("type":"end")") != line.npos;
  }
  BOOST_TEST(left_out > 0);
  BOOST_TEST(whole + left_out == lines);
  BOOST_TEST(ends == 1);
  BOOST_TEST(all.body.ends_with("}\n"));
}

BOOST_AUTO_TEST_CASE(waits_for_the_end_when_told_to) {
  http_house house;
  raw_client client{house.port};
  client.send(request("Prefer: wait=60\r\n"));
  house.packages.wait_for_watcher();
  house.packages.end(environment_state::failed);
  auto answer = client.read();
  BOOST_TEST(answer.status == 422);
  BOOST_TEST(answer.body.find("no such package") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(names_what_is_wrong_with_a_wish) {
  http_house house;
  for (auto body :
       {R"({})", R"({"pip_requirements":[]})",
        R"({"pip_requirements":["--index-url=x"]})", R"({"pip":["numpy"]})"})
    BOOST_TEST(house.post("/v1/package-sets", body).status == 422, body);
  auto typo = house.post("/v1/package-sets", R"({"npm_requirement":["a"]})");
  BOOST_TEST(typo.body.find("did you mean 'npm_requirements'?")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(keeps_what_runs_use_and_shows_it_to_its_owner_only) {
  http_house house;
  house.post("/v1/package-sets", wish);
  house.packages.end(environment_state::ready);
  auto place = "/v1/package-sets/f1";
  house.packages.in_use = true;
  BOOST_TEST(test::ask(house.port, "DELETE", place).status == 409);
  house.packages.in_use = false;
  BOOST_TEST(test::ask(house.port, "DELETE", place).status == 204);
  BOOST_TEST(house.get(place).status == 404);
}

BOOST_AUTO_TEST_CASE(has_none_without_a_local_backend) {
  test::fake_engine engine;
  net::http_server server{engine, http_house::prepare({})};
  net::add_api(server.routes(), engine);
  BOOST_REQUIRE(server.start());
  auto port = server.port();
  auto build = test::ask(port, "POST", "/v1/package-sets", wish);
  BOOST_TEST(build.status == 503);
  auto list = test::ask(port, "GET", "/v1/package-sets");
  BOOST_TEST(list.body == R"({"items":[],"next":null})");
}

BOOST_AUTO_TEST_SUITE_END()
