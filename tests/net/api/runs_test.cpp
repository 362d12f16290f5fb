#include "runtime/engine/api_key.hpp"
#include "runtime/json/json.hpp"
#include "tests/support/http/api_words.hpp"
#include "tests/support/http/http_server.hpp"

#include <thread>

using namespace troupe;
using test::count;
using test::http_house;
using test::object_of;
using test::raw_client;

BOOST_AUTO_TEST_SUITE(runs_over_http)

namespace {

const std::string add_two = R"({"source":"def add(a, b):\n  return a + b\n",)"
                            R"("args":{"a":1,"b":2}})";

} // namespace

BOOST_AUTO_TEST_CASE(answers_a_run_with_its_result) {
  http_house house;
  auto a = house.post("/v1/runs", add_two, "Idempotency-Key: once\r\n");
  BOOST_TEST(a.status == 200);
  BOOST_TEST(a.fields["content-type"] == "application/json");
  auto o = object_of(a);
  BOOST_TEST(o.at("status").as_string() == "success");
  auto asked = house.engine.last_request();
  BOOST_TEST(asked.idempotency_key == "once");
  BOOST_TEST((asked.organization == default_organization()));
}

BOOST_AUTO_TEST_CASE(names_every_bad_field_and_the_way_out) {
  http_house house;
  auto a = house.post("/v1/runs",
                      R"({"sorce":"x","args":3,"limits":{"wall_sm":1}})");
  BOOST_TEST(a.status == 422);
  BOOST_TEST(a.fields["content-type"] == "application/problem+json");
  auto o = object_of(a);
  BOOST_TEST(o.at("code").as_string() == "invalid_request");
  BOOST_TEST(o.at("status").as_int64() == 422);
  std::string errors = json::to_text(o.at("errors"));
  BOOST_TEST(errors.find("\"/sorce\"") != std::string::npos);
  BOOST_TEST(errors.find("source") != std::string::npos);
  BOOST_TEST(errors.find("\"/args\"") != std::string::npos);
}

// H27
BOOST_AUTO_TEST_CASE(refuses_what_is_no_json) {
  http_house house;
  for (std::string body :
       {"", "{", "[1]", "3", "null", "{\"a\":NaN}", "\xef\xbb\xbf{}",
        "{\"a\":\"\xff\"}", "{\"a\":\"\\ud800\"}", "{\"a\":1e999}",
        "{\"a\":1,\"a\":2}", "{} trailing", "\"\\u0000\""}) {
    auto a = house.post("/v1/runs", body);
    BOOST_TEST((a.status == 400 || a.status == 422 || a.status == 415), body);
    BOOST_TEST(a.body.find("offset") == std::string::npos);
  }
  auto deep = house.post("/v1/runs", std::string(100'000, '['));
  BOOST_TEST(deep.status == 400);
  auto wide = std::string{"{"};
  for (int i = 0; i < 100'000; ++i)
    wide += "\"k" + std::to_string(i) + "\":1,";
  wide += "\"z\":1}";
  auto many = house.post("/v1/runs", wide);
  BOOST_TEST((many.status == 400 || many.status == 422));
}

BOOST_AUTO_TEST_CASE(
  puts_the_failing_tool_in_a_result_and_the_engine_in_a_problem) {
  http_house house;
  house.engine.play = [](const run_request& r) -> result<run_result> {
    run_result done;
    done.id = r.id;
    done.failure.name = "ValueError";
    return done;
  };
  auto failed = house.post("/v1/runs", add_two);
  BOOST_TEST(failed.status == 200);
  BOOST_TEST(object_of(failed).at("status").as_string() == "error");
  struct {
    ec code;
    int status;
  } const table[]
    = {{ec::invalid_request, 422}, {ec::not_found, 404},   {ec::conflict, 409},
       {ec::denied, 403},          {ec::unavailable, 503}, {ec::timeout, 504},
       {ec::exhausted, 429},       {ec::internal, 500},    {ec::no_space, 507}};
  for (const auto& [code, status] : table) {
    house.engine.play
      = [code = code](const run_request&) -> result<run_result> {
      return error{code, "because", {}, std::chrono::milliseconds{1'500}};
    };
    auto a = house.post("/v1/runs", add_two);
    BOOST_TEST(a.status == status);
    auto o = object_of(a);
    BOOST_TEST(o.at("code").as_string() == to_string(code));
    // What was refused was never a run that could be looked up.
    bool was_a_run
      = code == ec::unavailable || code == ec::timeout || code == ec::internal;
    BOOST_TEST(o.contains("run_id") == was_a_run);
    BOOST_TEST(a.fields["retry-after"]
               == (code == ec::unavailable || code == ec::exhausted
                       || code == ec::no_space
                     ? "2"
                     : ""));
  }
}

BOOST_AUTO_TEST_CASE(answers_async_with_a_place_to_look) {
  http_house house;
  auto a = house.post("/v1/runs", add_two, "Prefer: respond-async\r\n");
  BOOST_TEST(a.status == 202);
  auto place = a.fields["location"];
  BOOST_TEST(place.starts_with("/v1/runs/run-"));
  auto found = object_of(house.get(place));
  BOOST_TEST(found.at("phase").as_string() == "ended");
  BOOST_TEST(found.at("result").at("status").as_string() == "success");
}

BOOST_AUTO_TEST_CASE(waits_as_long_as_it_is_told) {
  http_house house;
  house.engine.hold = true;
  auto late = house.post("/v1/runs", add_two, "Prefer: wait=1\r\n");
  BOOST_TEST(late.status == 202);
  house.engine.release();
  house.engine.hold = false;
  auto soon = house.post("/v1/runs", add_two, "Prefer: wait=30\r\n");
  BOOST_TEST(soon.status == 200);
  BOOST_TEST(object_of(soon).at("status").as_string() == "success");
}

BOOST_AUTO_TEST_CASE(streams_events_with_exactly_one_end) {
  http_house house;
  house.engine.chatter = {"hel", "lo \xc3", "\xa4\n"};
  auto sse = house.post("/v1/runs", add_two, "Accept: text/event-stream\r\n");
  BOOST_TEST(sse.status == 200);
  BOOST_TEST(sse.fields["content-type"] == "text/event-stream");
  BOOST_TEST(sse.fields["x-run-id"].starts_with("run-"));
  BOOST_TEST(count(sse.body, "event: end\n") == 1u);
  BOOST_TEST(sse.body.starts_with("id: 1\nevent: accepted\ndata: {"));
  // The letter came in two halves and arrives whole.
  BOOST_TEST(sse.body.find("\xc3\xa4") != std::string::npos);
  auto lines
    = house.post("/v1/runs", add_two, "Accept: application/x-ndjson\r\n");
  BOOST_TEST(count(lines.body, "\"type\":\"end\"") == 1u);
  BOOST_TEST(count(lines.body, "\n") == 6u);
}

BOOST_AUTO_TEST_CASE(answers_an_early_error_of_a_stream_as_a_problem) {
  http_house house;
  auto a = house.post("/v1/runs", R"({"tool_nam":"x"})",
                      "Accept: text/event-stream\r\n");
  BOOST_TEST(a.status == 422);
  BOOST_TEST(a.fields["content-type"] == "application/problem+json");
}

BOOST_AUTO_TEST_CASE(goes_on_with_events_where_a_reader_stopped) {
  http_house house;
  house.engine.chatter = {"a", "b"};
  auto started = house.post("/v1/runs", add_two, "Prefer: respond-async\r\n");
  auto place = started.fields["location"] + "/events";
  auto all = house.get(place);
  BOOST_TEST(count(all.body, "id: ") == 5u);
  auto rest = house.get(place, "Last-Event-ID: 3\r\n");
  BOOST_TEST(count(rest.body, "id: ") == 2u);
  BOOST_TEST(rest.body.starts_with("id: 4\n"));
  BOOST_TEST(house.get(place, "Last-Event-ID: x\r\n").status == 400);
  BOOST_TEST(test::ask(house.port, "HEAD", place).status == 200);
}

BOOST_AUTO_TEST_CASE(lists_runs_page_by_page_for_one_organization) {
  http_house house;
  for (int i = 0; i < 5; ++i)
    house.post("/v1/runs", add_two);
  auto first = object_of(house.get("/v1/runs?limit=3"));
  BOOST_TEST(first.at("items").as_array().size() == 3u);
  std::string next{first.at("next").as_string()};
  auto second = object_of(house.get("/v1/runs?limit=3&after=" + next));
  BOOST_TEST(second.at("items").as_array().size() == 2u);
  BOOST_TEST(second.at("next").is_null());
  for (std::string query : {"limit=-1", "limit=1000000000000000000", "limit=x",
                            "after=garbage", "limt=3", "limit=3&limit=4"})
    BOOST_TEST(house.get("/v1/runs?" + query).status == 422, query);
  // Another organization's cursor is no cursor.
  auto key = make_api_key(organization_id::make(), "other", 7);
  house.engine.add_key(key.record);
  auto foreign
    = house.get("/v1/runs?after=" + next,
                "Authorization: Bearer " + key.text.reveal() + "\r\n");
  BOOST_TEST(foreign.status == 422);
}

BOOST_AUTO_TEST_CASE(lists_what_became_of_runs_and_not_what_they_said) {
  http_house house;
  house.engine.play = [](const run_request& r) -> result<run_result> {
    run_result done;
    done.id = r.id;
    done.status
      = r.command == "false" ? run_status::error : run_status::success;
    done.reason = exit_reason::exited;
    done.value_json = '"' + std::string(100'000, 'v') + '"';
    done.stdout_text = std::string(100'000, 'o');
    return done;
  };
  for (int i = 0; i < 30; ++i)
    house.post("/v1/runs",
               i % 3 == 0 ? R"({"command":"false"})" : R"({"command":"true"})");
  auto all = house.get("/v1/runs");
  BOOST_TEST(all.body.size() < 30'000u);
  BOOST_TEST(count(all.body, "\"reason\":\"exited\"") == 30u);
  auto failed = object_of(house.get("/v1/runs?status=error&limit=7"));
  BOOST_TEST(failed.at("items").as_array().size() == 7u);
  std::string next{failed.at("next").as_string()};
  failed = object_of(house.get("/v1/runs?status=error&after=" + next));
  BOOST_TEST(failed.at("items").as_array().size() == 3u);
  BOOST_TEST(failed.at("next").is_null());
  for (std::string none : {"phase=running", "tool=x", "label=a%3Db"}) {
    auto empty = object_of(house.get("/v1/runs?" + none));
    BOOST_TEST(empty.at("items").as_array().empty(), none);
  }
}

// H37
BOOST_AUTO_TEST_CASE(answers_foreign_and_unknown_ids_alike) {
  http_house house;
  auto mine = object_of(house.post("/v1/runs", add_two));
  std::string id{mine.at("id").as_string()};
  auto key = make_api_key(organization_id::make(), "other", 7);
  house.engine.add_key(key.record);
  auto bearer = "Authorization: Bearer " + key.text.reveal()
    + "\r\nX-Request-Id: same\r\n";
  auto foreign = house.get("/v1/runs/" + id, bearer);
  auto unknown = run_id::make();
  auto missing = house.get("/v1/runs/" + unknown.str(), bearer);
  BOOST_TEST(foreign.status == 404);
  BOOST_TEST(missing.status == 404);
  auto strip = [](std::string text, const std::string& id) {
    return text.replace(text.find(id), id.size(), "ID");
  };
  BOOST_TEST(strip(foreign.body, id) == strip(missing.body, unknown.str()));
  for (std::string odd : {"run-1", "x:y", "run-%20", "%2e%2e%2e"})
    BOOST_TEST(house.get("/v1/runs/" + odd).status == 404, odd);
}

BOOST_AUTO_TEST_CASE(cancels_explains_and_shows_logs) {
  http_house house;
  house.engine.play = [](const run_request& r) -> result<run_result> {
    run_result done;
    done.id = r.id;
    done.stdout_text = "printed";
    return done;
  };
  auto id = std::string{
    object_of(house.post("/v1/runs", add_two)).at("id").as_string()};
  auto logs = object_of(house.get("/v1/runs/" + id + "/logs"));
  BOOST_TEST(logs.at("stdout").as_string() == "printed");
  BOOST_TEST(logs.at("phase").as_string() == "ended");
  BOOST_TEST(test::ask(house.port, "DELETE", "/v1/runs/" + id).status == 405);
  BOOST_TEST(house.post("/v1/runs/" + id + "/cancel", {}).status == 200);
  auto why = object_of(house.post("/v1/runs/explain", add_two));
  BOOST_TEST(why.at("candidates").at(0).as_string() == "local");
  BOOST_TEST(why.at("variables").at(0).at("value").as_string() == "***");
}

BOOST_AUTO_TEST_CASE(says_how_far_a_run_is_when_the_wait_is_over) {
  http_house house;
  house.engine.hold = true;
  house.engine.begins_as = run_phase::queued;
  std::thread waits{[&] {
    auto late = house.post("/v1/runs", add_two, "Prefer: wait=1\r\n");
    BOOST_TEST(late.status == 202);
    BOOST_TEST(object_of(late).at("phase").as_string() == "running");
  }};
  while (house.engine.held() == 0)
    std::this_thread::yield();
  house.engine.move_on(run_phase::running);
  waits.join();
}

BOOST_AUTO_TEST_CASE(shows_what_a_run_has_printed_so_far) {
  http_house house;
  house.engine.hold = true;
  auto begun = house.post("/v1/runs", add_two, "Prefer: respond-async\r\n");
  auto logs = object_of(house.get(begun.fields["location"] + "/logs"));
  BOOST_TEST(logs.at("phase").as_string() == "running");
  BOOST_TEST(logs.at("stdout").as_string() == "");
  using kind = run_event_kind;
  house.engine.so_far = {{1, kind::accepted, {}, {}, {}},
                         {2, kind::out, "tick\n\xc3", {}, {}},
                         {3, kind::err, "oh\n", {}, {}}};
  logs = object_of(house.get(begun.fields["location"] + "/logs"));
  BOOST_TEST(logs.at("stdout").as_string() == "tick\n\xef\xbf\xbd");
  BOOST_TEST(logs.at("stderr").as_string() == "oh\n");
  BOOST_TEST(!logs.at("stdout_truncated").as_bool());
  // The first ones made room for others.
  house.engine.so_far = {{8, kind::progress, "7 events ...", {}, {}},
                         {9, kind::out, "tock\n", {}, {}}};
  logs = object_of(house.get(begun.fields["location"] + "/logs"));
  BOOST_TEST(logs.at("stdout").as_string() == "tock\n");
  BOOST_TEST(logs.at("stdout_truncated").as_bool());
  house.engine.release();
  logs = object_of(house.get(begun.fields["location"] + "/logs"));
  BOOST_TEST(logs.at("phase").as_string() == "ended");
}

BOOST_AUTO_TEST_CASE(runs_a_request_again_and_shows_it_without_its_secrets) {
  http_house house;
  auto first = object_of(house.post(
    "/v1/runs", R"({"code":"1 + 1","env":{"TOKEN":"hush"},"labels":{"a":"b"}})",
    "Idempotency-Key: once\r\n"));
  const std::string id{first.at("id").as_string()};
  auto shown = house.get("/v1/runs/" + id + "/request");
  BOOST_TEST(shown.status == 200);
  const auto request = object_of(shown);
  BOOST_TEST(request.at("code").as_string() == "1 + 1");
  BOOST_TEST(request.at("env").at("TOKEN").as_string() == "***");
  BOOST_TEST(!request.contains("idempotency_key"));
  BOOST_TEST(shown.body.find("hush") == std::string::npos);

  auto again = house.post("/v1/runs/" + id + "/rerun", {});
  BOOST_TEST(again.status == 200);
  BOOST_TEST(object_of(again).at("id").as_string() != id);
  const auto asked = house.engine.last_request();
  BOOST_TEST((asked.kind == run_kind::code));
  BOOST_TEST(asked.source == "1 + 1");
  BOOST_TEST(asked.env.at("TOKEN").reveal() == "hush");
  BOOST_TEST(asked.idempotency_key == "");
  BOOST_TEST(asked.labels.at("a") == "b");

  auto key = make_api_key(organization_id::make(), "other", 7);
  house.engine.add_key(key.record);
  const auto bearer = "Authorization: Bearer " + key.text.reveal() + "\r\n";
  BOOST_TEST(house.post("/v1/runs/" + id + "/rerun", {}, bearer).status == 404);
  BOOST_TEST(house.get("/v1/runs/" + id + "/request", bearer).status == 404);
}

BOOST_AUTO_TEST_SUITE_END()
