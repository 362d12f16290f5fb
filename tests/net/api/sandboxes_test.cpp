#include "runtime/engine/api_key.hpp"
#include "tests/support/http/http_server.hpp"

using namespace troupe;
using test::http_house;
using test::raw_client;

BOOST_AUTO_TEST_SUITE(sandboxes_api)

namespace {

const std::string place = "/v1/sandboxes";

json::object body_of(const test::raw_answer& a) {
  auto o = json::parse_object(a.body);
  BOOST_REQUIRE_MESSAGE(o, a.body);
  return *o;
}

std::string id_of(const test::raw_answer& a) {
  return std::string{body_of(a).at("id").as_string()};
}

/// Where a new sandbox is.
std::string created(http_house& house, const std::string& body = "{}") {
  auto made = house.post(place, body);
  BOOST_REQUIRE_MESSAGE(made.status == 201, made.body);
  BOOST_TEST(made.fields["location"] == place + "/" + id_of(made));
  return made.fields["location"];
}

struct told {
  sandbox_problem problem;
  ec code;
  int status;
};

} // namespace

BOOST_AUTO_TEST_CASE(tells_each_problem_by_its_code_and_status) {
  http_house house;
  const auto one = created(house);
  constexpr told all[] = {
    {sandbox_problem::none, ec::not_found, 404},
    {sandbox_problem::sandbox_not_running, ec::conflict, 409},
    {sandbox_problem::sandbox_paused, ec::conflict, 409},
    {sandbox_problem::sandbox_ended, ec::not_found, 410},
    {sandbox_problem::process_ended, ec::conflict, 409},
    {sandbox_problem::context_lost, ec::conflict, 409},
    {sandbox_problem::context_not_branchable, ec::conflict, 409},
    {sandbox_problem::nothing_listens, ec::unavailable, 502},
    {sandbox_problem::start_failed, ec::unavailable, 503},
    {sandbox_problem::start_failed, ec::invalid_request, 422},
    {sandbox_problem::unsupported_here, ec::invalid_request, 501},
    {sandbox_problem::template_not_found, ec::not_found, 404},
    {sandbox_problem::disk_limit, ec::no_space, 507},
    {sandbox_problem::quota, ec::exhausted, 429},
    {sandbox_problem::queue_full, ec::exhausted, 429},
    {sandbox_problem::place_unavailable, ec::unavailable, 503},
  };
  for (const auto& [problem, code, status] : all) {
    house.sandboxes.next_failure = sandbox_error{problem, code, "the reason"};
    auto a = house.get(one);
    BOOST_TEST(a.status == status, a.body);
    const auto wanted
      = problem == sandbox_problem::none ? to_string(code) : to_string(problem);
    BOOST_TEST(body_of(a).at("code").as_string() == wanted);
    BOOST_TEST(body_of(a).at("detail").as_string() == "the reason");
  }
}

BOOST_AUTO_TEST_CASE(says_when_a_conflict_is_worth_another_try) {
  http_house house;
  const auto one = created(house);
  house.sandboxes.next_failure
    = sandbox_error{sandbox_problem::sandbox_not_running, ec::conflict, "soon",
                    std::chrono::seconds{3}};
  BOOST_TEST(house.get(one).fields["retry-after"] == "3");
}

BOOST_AUTO_TEST_CASE(a_malformed_id_is_as_unknown_as_a_foreign_one) {
  http_house house;
  auto malformed = house.get(place + "/../../etc");
  BOOST_TEST(malformed.status != 200);
  auto unknown = house.get(place + "/" + sandbox_id::make().str());
  auto odd = house.get(place + "/NOT-AN-ID");
  BOOST_TEST(unknown.status == 404);
  BOOST_TEST(odd.status == 404);
  BOOST_TEST(body_of(unknown).at("code") == body_of(odd).at("code"));
}

BOOST_AUTO_TEST_CASE(the_same_key_makes_one_sandbox) {
  http_house house;
  auto first = house.post(place, "{}", "Idempotency-Key: k1\r\n");
  auto again = house.post(place, "{}", "Idempotency-Key: k1\r\n");
  BOOST_TEST(first.status == 201);
  BOOST_TEST(id_of(first) == id_of(again));
  BOOST_TEST(again.fields["idempotency-replayed"] == "true");
  auto other = house.post(place, R"({"name":"x"})", "Idempotency-Key: k1\r\n");
  BOOST_TEST(other.status == 422);
}

BOOST_AUTO_TEST_CASE(a_session_is_answered_by_what_it_has) {
  http_house house;
  auto joined = house.post(place, R"({"session":"chat 42"})");
  BOOST_TEST(joined.status == 200, joined.body);
  BOOST_TEST(body_of(joined).at("session").as_string() == "chat 42");
  BOOST_TEST(house.post(place, R"({"session":"a\u0001b"})").status == 422);
  BOOST_TEST(house.post(place, R"({"session":""})").status == 422);
}

BOOST_AUTO_TEST_CASE(changes_pairs_clocks_and_the_network_and_nothing_else) {
  http_house house;
  const auto one = created(house, R"({"metadata":{"a":"1","b":"2"}})");
  auto changed = test::ask(house.port, "PATCH", one,
                           R"({"metadata":{"a":"3","b":null},
                               "idle_timeout":"10m"})");
  BOOST_REQUIRE_MESSAGE(changed.status == 200, changed.body);
  const auto o = body_of(changed);
  BOOST_TEST(o.at("metadata").as_object().size() == 1u);
  BOOST_TEST(o.at("metadata").at("a").as_string() == "3");
  BOOST_TEST(o.at("idle_timeout").as_int64() == 600);
  auto network = test::ask(house.port, "PATCH", one,
                           R"({"network":{"allow":["example.org"]}})");
  BOOST_TEST(body_of(network).at("network").at("allow").at(0).as_string()
             == "example.org");
  BOOST_TEST(
    test::ask(house.port, "PATCH", one, R"({"network":"everything"})").status
    == 422);
  auto off = test::ask(house.port, "PATCH", one, R"({"idle_timeout":null})");
  BOOST_TEST(body_of(off).at("idle_timeout").is_null());
  auto typo = test::ask(house.port, "PATCH", one, R"({"metadata":{"a":1}})");
  BOOST_TEST(typo.status == 422);
  BOOST_TEST(typo.body.find("/metadata/a") != std::string::npos, typo.body);
  BOOST_TEST(test::ask(house.port, "PATCH", one, R"({"name":"x"})").status
             == 422);
}

BOOST_AUTO_TEST_CASE(streams_events_behind_a_number_to_their_end) {
  http_house house;
  const auto one = created(house);
  auto all = body_of(house.get(one + "/events"));
  BOOST_TEST(all.at("items").as_array().size() == 2u);
  BOOST_TEST(all.at("next").as_int64() == 2);
  auto lines = house.get(one + "/events?follow=true&after=1");
  BOOST_TEST(lines.body.find("process_ended") != std::string::npos);
  BOOST_TEST(lines.body.find("\"state\"") == std::string::npos, lines.body);
  BOOST_TEST(lines.body.find(R"({"type":"end"})") != std::string::npos);
  auto sse = test::ask(house.port, "GET", one + "/events", {},
                       "Accept: text/event-stream\r\n");
  BOOST_TEST(sse.body.find("event: state") != std::string::npos, sse.body);
  BOOST_TEST(sse.body.find("id: 1") != std::string::npos, sse.body);
}

BOOST_AUTO_TEST_CASE(lists_by_name_state_and_metadata_page_by_page) {
  http_house house;
  created(house, R"({"name":"a","metadata":{"chat":"1"}})");
  created(house, R"({"name":"b","metadata":{"chat":"1","team":"x:y"}})");
  created(house, R"({"name":"c"})");
  auto count = [&](const std::string& query) {
    auto a = house.get(place + query);
    BOOST_REQUIRE_MESSAGE(a.status == 200, a.body);
    return body_of(a).at("items").as_array().size();
  };
  BOOST_TEST(count("") == 3u);
  BOOST_TEST(count("?name=a") == 1u);
  BOOST_TEST(count("?metadata=chat:1") == 2u);
  BOOST_TEST(count("?metadata=chat:1&metadata=team:x:y") == 1u);
  BOOST_TEST(count("?state=failed") == 0u);
  auto first = house.get(place + "?limit=2");
  const std::string next{body_of(first).at("next").as_string()};
  BOOST_TEST(count("?limit=2&after=" + next) == 1u);
  BOOST_TEST(house.get(place + "?metadata=chat").status == 422);
  BOOST_TEST(house.get(place + "?colour=red").status == 422);
}

BOOST_AUTO_TEST_CASE(exec_answers_with_output_and_code) {
  http_house house;
  const auto one = created(house);
  auto a = house.post(one + "/exec", R"({"command":"echo hi"})");
  BOOST_TEST(a.status == 200);
  BOOST_TEST(body_of(a).at("stdout").as_string() == "hi\n");
  BOOST_TEST(body_of(a).at("exit_code").as_int64() == 0);
  BOOST_TEST(body_of(a).at("reason").as_string() == "exited");
  auto failed = house.post(one + "/exec", R"({"command":"false"})");
  BOOST_TEST(failed.status == 200); // a program that fails is a result
  BOOST_TEST(body_of(failed).at("exit_code").as_int64() == 1);
  BOOST_TEST(
    house.post(one + "/exec", R"({"command":"wait","open_stdin":true})").status
    == 422);
}

BOOST_AUTO_TEST_CASE(output_follows_to_the_end_of_the_process) {
  http_house house;
  const auto one = created(house);
  auto begun = house.post(one + "/processes", R"({"command":"wait"})");
  const auto process = begun.fields["location"];
  raw_client reader{house.port};
  reader.send("GET " + process
              + "/output?follow=true HTTP/1.1\r\nHost: localhost\r\n\r\n");
  BOOST_TEST(reader.sees("\r\n\r\n"));
  BOOST_TEST(house.post(process + "/input", "first").status == 204);
  BOOST_TEST(reader.sees("first"));
  BOOST_TEST(house.post(process + "/input", "second").status == 204);
  BOOST_TEST(reader.sees("second"));
  BOOST_TEST(house.post(process + "/close", "").status == 204);
  BOOST_TEST(reader.sees(R"("type":"end")"));
  // A reader that comes late, or comes back, goes on where it was.
  auto rest = house.get(process + "/output?stream=stdout&from=5");
  BOOST_TEST(body_of(rest).at("data").as_string() == "second");
  BOOST_TEST(body_of(rest).at("next").as_int64() == 11);
  BOOST_TEST(body_of(rest).at("ended").as_bool());
  auto exact
    = house.get(process + "/output?stream=stdout&encoding=base64&from=9");
  BOOST_TEST(body_of(exact).at("data").as_string() == "bmQ=");
}

BOOST_AUTO_TEST_CASE(a_reader_who_leaves_leaves_nothing_behind) {
  http_house house;
  const auto one = created(house);
  auto begun = house.post(one + "/processes", R"({"command":"wait"})");
  {
    raw_client reader{house.port};
    reader.send("GET " + begun.fields["location"]
                + "/output?follow=true HTTP/1.1\r\nHost: localhost\r\n"
                  "Accept: application/x-ndjson\r\n\r\n");
    BOOST_TEST(reader.sees("\r\n\r\n"));
  } // nothing more is written: the end of the connection is all that tells
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (house.get("/metrics").body.find("_requests_in_flight 1\n")
         == std::string::npos)
    BOOST_REQUIRE(std::chrono::steady_clock::now() < end);
}

BOOST_AUTO_TEST_CASE(files_are_bytes) {
  http_house house;
  const auto content = created(house) + "/files/content";
  const std::string bytes{"a\0b\xff", 4};
  auto put = test::ask(house.port, "PUT", content + "?path=/tmp/x", bytes);
  BOOST_TEST(put.status == 204, put.body);
  auto got = house.get(content + "?path=/tmp/x");
  BOOST_TEST((got.body == bytes));
  BOOST_TEST(got.fields["content-type"] == "application/octet-stream");
  BOOST_TEST(house.get(content + "?path=/tmp/y").status == 404);
  auto wrong = house.get(content + "?path=../x");
  BOOST_TEST(wrong.status == 422);
  BOOST_TEST(wrong.body.find(R"("parameter":"path")") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_key_needs_the_scope_run) {
  http_house house;
  auto key = make_api_key(default_organization(), "c",
                          static_cast<std::uint8_t>(scope::config));
  house.engine.add_key(key.record);
  const auto bearer = "Authorization: Bearer " + key.text.reveal() + "\r\n";
  BOOST_TEST(house.get(place, bearer).status == 403);
  BOOST_TEST(house.post(place, "{}", bearer).status == 403);
}

BOOST_AUTO_TEST_CASE(what_is_of_another_organization_is_not_there) {
  http_house house;
  const auto one = created(house);
  const auto tenant
    = organization_id{"org-11111111-1111-4111-8111-111111111111"};
  auto key = make_api_key(tenant, "t", static_cast<std::uint8_t>(scope::run));
  house.engine.add_key(key.record);
  const auto bearer = "Authorization: Bearer " + key.text.reveal() + "\r\n";
  BOOST_TEST(house.get(one, bearer).status == 404);
  BOOST_TEST(house.post(one + "/exec", R"({"command":"echo"})", bearer).status
             == 404);
  BOOST_TEST(body_of(house.get(place, bearer)).at("items").as_array().empty());
}

BOOST_AUTO_TEST_SUITE_END()
