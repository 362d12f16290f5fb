// The native interface as a user meets it: `troupe serve` in a process of its
// own, a real store, real runs in Python. What tests/net/api shows over an
// engine in memory, said once more where nothing is played.
#include "runtime/json/json.hpp"
#include "tests/app/serving.hpp"
#include "tests/support/http/metrics_check.hpp"
#include "tests/support/http/openapi_check.hpp"
#include "tests/support/http/raw_http.hpp"

#include <fstream>

using namespace troupe;
using test::raw_answer;

BOOST_AUTO_TEST_SUITE(served_api)

namespace {

/// A served engine and a caller of it.
struct api {
  explicit api(const std::vector<std::string>& more = {})
      : engine{folder, more} {
    port = port_in(engine.address());
  }

  /// Every answer is held against the document that the engine serves.
  raw_answer ask(std::string_view verb, std::string_view path,
                 std::string_view body = {}, std::string_view fields = {}) {
    if (!check)
      check.emplace(
        json::parse_object(test::ask(port, "GET", "/openapi.json").body)
          .value());
    auto a = test::ask(port, verb, path, body, fields);
    for (const auto& problem : check->problems(verb, path, a))
      BOOST_ERROR(verb << " " << path << " " << a.status << ": " << problem);
    return a;
  }
  /// The same, for an answer that is to be this status and JSON.
  json::object get(int status, std::string_view verb, std::string_view path,
                   std::string_view body = {}, std::string_view fields = {}) {
    auto a = ask(verb, path, body, fields);
    BOOST_TEST_REQUIRE(a.status == status,
                       verb << " " << path << ": " << a.status << a.body);
    auto parsed = json::parse_object(a.body);
    BOOST_TEST_REQUIRE(!!parsed, a.body);
    return std::move(*parsed);
  }

  temporary_folder folder;
  serving engine;
  std::uint16_t port = 0;
  std::optional<test::openapi_check> check;
};

std::string text_of(const json::value& v) {
  return v.is_string() ? std::string{v.as_string()} : json::to_text(v);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != text.npos;
       at = end + 1)
    out.push_back(text.substr(at, end - at));
  return out;
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1))
    ++n;
  return n;
}

constexpr auto sum = R"({"source":"def add(a: int, b: int) -> int:\n)"
                     R"(    print('adding')\n    return a + b",)"
                     R"("args":{"a":2,"b":40}})";

} // namespace

BOOST_AUTO_TEST_CASE(runs_in_every_manner_of_answering) {
  api troupe;
  auto done = troupe.get(200, "POST", "/v1/runs", sum);
  BOOST_TEST(done.at("value").as_int64() == 42);
  BOOST_TEST(done.at("stdout").as_string() == "adding\n");

  auto later = troupe.ask("POST", "/v1/runs", sum, "Prefer: respond-async\r\n");
  BOOST_TEST_REQUIRE(later.status == 202, later.body);
  auto place = later.fields["location"];
  auto events = troupe.ask("GET", place + "/events").body;
  BOOST_TEST(count_of(events, "event: end\n") == 1u, events);
  auto record = troupe.get(200, "GET", place);
  BOOST_TEST(record.at("phase").as_string() == "ended");
  BOOST_TEST(record.at("result").at("value").as_int64() == 42);
  auto logs = troupe.get(200, "GET", place + "/logs");
  BOOST_TEST(logs.at("stdout").as_string() == "adding\n");
  // Whoever read the first event needs only the rest.
  auto rest
    = troupe.ask("GET", place + "/events", {}, "Last-Event-ID: 1\r\n").body;
  BOOST_TEST(rest.find("id: 1\n") == rest.npos);
  BOOST_TEST(rest.find("id: 2\n") != rest.npos);
  BOOST_TEST(count_of(rest, "event: end\n") == 1u, rest);

  auto waited = troupe.get(200, "POST", "/v1/runs", sum, "Prefer: wait=30\r\n");
  BOOST_TEST(waited.at("value").as_int64() == 42);
  auto lines
    = troupe.ask("POST", "/v1/runs", sum, "Accept: application/x-ndjson\r\n");
  auto last = json::parse_object(lines_of(lines.body).back());
  BOOST_TEST(last->at("type").as_string() == "end");
  BOOST_TEST(count_of(lines.body, R"("type":"end")") == 1u);

  auto failed = troupe.get(200, "POST", "/v1/runs", R"({"code":"1/0"})");
  BOOST_TEST(failed.at("status").as_string() == "error");
  auto why = troupe.get(200, "POST", "/v1/runs/explain", sum);
  BOOST_TEST(why.at("candidates").at(0).as_string() == "local");
  auto listed = troupe.get(200, "GET", "/v1/runs?limit=2");
  BOOST_TEST(listed.at("items").as_array().size() == 2u);
  auto next
    = troupe.get(200, "GET", "/v1/runs?after=" + text_of(listed.at("next")));
  BOOST_TEST(next.at("items").as_array().size() >= 3u);
}

BOOST_AUTO_TEST_CASE(runs_a_source_without_a_call_once) {
  api troupe;
  auto done = troupe.get(200, "POST", "/v1/runs",
                         R"({"source":"def main():\n    print('sent')\n)"
                         R"(if __name__ == '__main__':\n    main()\n"})");
  BOOST_TEST(done.at("stdout").as_string() == "sent\n");
  BOOST_TEST(done.at("value").is_null());
  // A stored tool is a call, and its guard is none.
  troupe.get(201, "POST", "/v1/tools",
             R"({"source_code":"def main():\n    'Sends.'\n)"
             R"(    print('sent')\nif __name__ == '__main__':\n)"
             R"(    main()\n"})");
  done = troupe.get(200, "POST", "/v1/tools/main/run", "{}");
  BOOST_TEST(done.at("stdout").as_string() == "sent\n");
}

BOOST_AUTO_TEST_CASE(puts_files_in_and_gives_files_back) {
  api troupe;
  const std::string request
    = R"({"code":"open('s.txt', 'w').write(open('in.csv').read())\n)"
      R"(open('l.bin', 'wb').write(bytes(300_000))\nb'ab'",)"
      R"("files":{"in.csv":"1,2","x":{"base64":"/w=="}},)"
      R"("outputs":["*.txt","*.bin"]})";
  auto done = troupe.get(200, "POST", "/v1/runs", request);
  BOOST_TEST(text_of(done.at("value")) == "YWI=");
  BOOST_TEST(text_of(done.at("value_encoding")) == "base64");
  const auto& files = done.at("files").as_array();
  BOOST_REQUIRE(files.size() == 2u);
  BOOST_TEST(text_of(files[0].at("text")) == "1,2");
  BOOST_TEST(text_of(files[0].at("media_type")) == "text/plain");
  BOOST_TEST(files[1].at("size").as_int64() == 300'000);
  auto whole = troupe.ask("GET", text_of(files[1].at("url")));
  BOOST_TEST(whole.status == 200);
  BOOST_TEST(whole.body == std::string(300'000, '\0'));
  // The record says the same.
  auto record = troupe.get(200, "GET", "/v1/runs/" + text_of(done.at("id")));
  BOOST_TEST(record.at("result").at("files").as_array().size() == 2u);
  for (const char* bad : {R"({"code":"1","files":{"../a":""}})",
                          R"({"code":"1","outputs":["/*"]})"})
    BOOST_TEST(troupe.ask("POST", "/v1/runs", bad).status == 422);
}

BOOST_AUTO_TEST_CASE(cancels_what_runs) {
  api troupe;
  auto started = troupe.get(202, "POST", "/v1/runs",
                            R"j({"code":"import time\ntime.sleep(600)"})j",
                            "Prefer: respond-async\r\n");
  auto place = "/v1/runs/" + text_of(started.at("id"));
  test::raw_client reader{troupe.port, 60'000};
  reader.send("GET " + place
              + "/events HTTP/1.1\r\nHost: localhost\r\n"
                "Connection: close\r\n\r\n");
  BOOST_TEST(reader.sees("event: started"));
  auto told = troupe.ask("POST", place + "/cancel");
  BOOST_TEST((told.status == 202 || told.status == 200), told.body);
  BOOST_TEST(reader.sees("event: end"));
  auto record = troupe.get(200, "GET", place);
  BOOST_TEST(record.at("result").at("reason").as_string() == "cancelled");
}

BOOST_AUTO_TEST_CASE(answers_a_batch_item_by_item) {
  api troupe;
  auto answer = troupe.ask(
    "POST", "/v1/batches",
    R"({"items":[{"command":"echo 1"},{"code":"1/0"},{"comand":"x"}]})");
  BOOST_TEST_REQUIRE(answer.status == 200, answer.body);
  auto lines = lines_of(answer.body);
  BOOST_TEST_REQUIRE(lines.size() == 4u);
  auto end = json::parse_object(lines.back()).value();
  BOOST_TEST(end.at("type").as_string() == "end");
  BOOST_TEST(end.at("succeeded").as_int64() == 1);
  BOOST_TEST(end.at("failed").as_int64() == 2);
  BOOST_TEST(answer.body.find("did you mean 'command'?") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(keeps_configs_and_shows_values_only_to_runs) {
  api troupe;
  const std::string base = "/v1/sandbox-configs";
  auto made = troupe.ask("POST", base, R"({"type":"local","config":{}})");
  BOOST_TEST_REQUIRE(made.status == 201, made.body);
  auto place = made.fields["location"];
  auto tag = made.fields["etag"];
  auto match = "If-Match: " + tag + "\r\n";
  auto patch = R"({"config":{"venv_name":"other"}})";
  auto changed = troupe.ask("PATCH", place, patch, match);
  BOOST_TEST_REQUIRE(changed.status == 200, changed.body);
  BOOST_TEST(changed.fields["etag"] != tag);
  BOOST_TEST(troupe.ask("PATCH", place, patch, match).status == 412);
  auto known = "If-None-Match: " + changed.fields["etag"] + "\r\n";
  BOOST_TEST(troupe.ask("GET", place, {}, known).status == 304);

  auto variable = troupe.get(201, "POST", place + "/variables",
                             R"({"key":"TOKEN","value":"hidden-1"})");
  auto shown = troupe.ask("GET", place + "/variables").body;
  BOOST_TEST(shown.find("TOKEN") != shown.npos);
  BOOST_TEST(shown.find("hidden-1") == shown.npos);
  auto seen = troupe.get(200, "POST", "/v1/runs",
                         R"({"command":"printf %s \"$TOKEN\""})");
  BOOST_TEST(seen.at("stdout").as_string() == "hidden-1");
  troupe.get(200, "PUT", "/v1/agents/agent-7/variables",
             R"({"values":{"TOKEN":"hidden-2"}})");
  seen
    = troupe.get(200, "POST", "/v1/runs",
                 R"({"command":"printf %s \"$TOKEN\"","agent_id":"agent-7"})");
  BOOST_TEST(seen.at("stdout").as_string() == "hidden-2");
  auto one = "/v1/variables/" + text_of(variable.at("id"));
  BOOST_TEST(troupe.ask("DELETE", one).status == 204);
  BOOST_TEST(troupe.ask("DELETE", place).status == 204);
  BOOST_TEST(troupe.ask("GET", place).status == 404);
}

BOOST_AUTO_TEST_CASE(gives_the_same_answer_for_the_same_idempotency_key) {
  api troupe;
  auto clock = R"j({"code":"import time\nprint(time.time_ns())"})j";
  auto key = "Idempotency-Key: once\r\n";
  auto first = troupe.get(200, "POST", "/v1/runs", clock, key);
  auto again = troupe.get(200, "POST", "/v1/runs", clock, key);
  BOOST_TEST(first.at("stdout").as_string() == again.at("stdout").as_string());
  // Another request with it, whatever its manner: refused, and no run.
  for (std::string manner : {"", "Prefer: respond-async\r\n"}) {
    auto wrong
      = troupe.ask("POST", "/v1/runs", R"({"command":"true"})", key + manner);
    BOOST_TEST(wrong.status == 422, wrong.body);
    BOOST_TEST(wrong.body.find("idempotency_key_reused") != wrong.body.npos);
    BOOST_TEST(wrong.body.find("run_id") == wrong.body.npos);
  }
  auto other = troupe.get(200, "POST", "/v1/runs", clock);
  BOOST_TEST(first.at("stdout").as_string() != other.at("stdout").as_string());
}

BOOST_AUTO_TEST_CASE(lets_a_key_do_what_its_scopes_say) {
  api troupe;
  auto made
    = troupe.get(201, "POST", "/v1/keys", R"({"name":"ci","scopes":["run"]})");
  auto bearer = "Authorization: Bearer " + text_of(made.at("key")) + "\r\n";
  auto self = troupe.get(200, "GET", "/v1/organizations/self", {}, bearer);
  BOOST_TEST(self.at("key_id").as_string() == made.at("id").as_string());
  BOOST_TEST(!self.at("can_config").as_bool());
  BOOST_TEST(troupe.ask("GET", "/v1/keys", {}, bearer).status == 403);
  BOOST_TEST(
    troupe.ask("POST", "/v1/runs", R"({"command":"true"})", bearer).status
    == 200);
  auto place = "/v1/keys/" + text_of(made.at("id"));
  BOOST_TEST(troupe.ask("DELETE", place).status == 204);
  BOOST_TEST(troupe.ask("GET", "/v1/organizations/self", {}, bearer).status
             == 401);
  auto audit = troupe.ask("GET", "/v1/audit").body;
  BOOST_TEST(audit.find(text_of(made.at("id"))) != audit.npos, audit);
}

BOOST_AUTO_TEST_CASE(begins_an_organization_with_its_first_key) {
  api troupe;
  const std::string other = "org-11111111-1111-4111-8111-111111111111";
  auto body = R"({"name":"first","scopes":["run","config","admin"],)"
              R"("organization_id":")"
    + other + R"("})";
  auto made = troupe.get(201, "POST", "/v1/keys", body);
  auto bearer = "Authorization: Bearer " + text_of(made.at("key")) + "\r\n";
  auto self = troupe.get(200, "GET", "/v1/organizations/self", {}, bearer);
  BOOST_TEST(self.at("id").as_string() == other);
  // What one has, the other does not see.
  auto config = troupe.ask("POST", "/v1/sandbox-configs",
                           R"({"type":"local","config":{}})", bearer);
  BOOST_TEST_REQUIRE(config.status == 201, config.body);
  auto place = config.fields["location"];
  BOOST_TEST(troupe.ask("GET", place, {}, bearer).status == 200);
  BOOST_TEST(troupe.ask("GET", place).status == 404);
  auto run = troupe.get(200, "POST", "/v1/runs", R"({"command":"true"})");
  auto foreign = "/v1/runs/" + text_of(run.at("id"));
  BOOST_TEST(troupe.ask("GET", foreign, {}, bearer).status == 404);
  // Nobody with a key makes one for somebody else.
  BOOST_TEST(troupe
               .ask("POST", "/v1/keys",
                    R"({"name":"x","scopes":["run"],"organization_id":)"
                    R"("org-22222222-2222-4222-8222-222222222222"})",
                    bearer)
               .status
             == 422);
}

BOOST_AUTO_TEST_CASE(lets_a_small_batch_pass_a_large_one_of_somebody_else) {
  api troupe;
  auto key_of = [&](const std::string& organization) {
    auto made = troupe.get(201, "POST", "/v1/keys",
                           R"({"name":"k","scopes":["run"],"organization_id":")"
                             + organization + R"("})");
    return "Authorization: Bearer " + text_of(made.at("key")) + "\r\n";
  };
  auto large = key_of("org-11111111-1111-4111-8111-111111111111");
  auto small = key_of("org-22222222-2222-4222-8222-222222222222");
  auto batch_of = [](int items) {
    std::string out;
    for (int i = 0; i < items; ++i)
      out += std::string{i == 0 ? "" : ","} + R"({"command":"sleep 0.02"})";
    return R"({"items":[)" + out + "]}";
  };
  constexpr int many = 300;
  auto body = batch_of(many);
  test::raw_client reader{troupe.port, 60'000};
  reader.send("POST /v1/batches HTTP/1.1\r\nHost: localhost\r\n"
              "Content-Type: application/json\r\n"
              + large + "Content-Length: " + std::to_string(body.size())
              + "\r\n\r\n" + body);
  BOOST_TEST_REQUIRE(reader.sees(R"("type":"item")"));
  auto done = troupe.ask("POST", "/v1/batches", batch_of(4), small);
  BOOST_TEST(done.body.find(R"("succeeded":4)") != done.body.npos, done.body);
  auto ended
    = troupe.get(200, "GET", "/v1/runs?limit=1000&phase=ended", {}, large);
  BOOST_TEST(ended.at("items").as_array().size() < many);
  BOOST_TEST(reader.sees(R"("succeeded":300)"));
}

BOOST_AUTO_TEST_CASE(tells_operators_that_everything_is_up) {
  api troupe;
  auto ready = troupe.ask("GET", "/readyz?verbose");
  BOOST_TEST(ready.status == 200);
  BOOST_TEST(ready.body.find("[+] config up\n") != ready.body.npos, ready.body);
  BOOST_TEST(ready.body.find("[-]") == ready.body.npos, ready.body);
}

BOOST_AUTO_TEST_CASE(counts_what_happens_as_prometheus_wants_it) {
  api troupe;
  troupe.get(200, "POST", "/v1/runs", sum);
  auto text = troupe.ask("GET", "/metrics").body;
  BOOST_TEST(text.find("\ntroupe_log_lines_dropped_total ") != text.npos);
  for (const auto& problem : test::metrics_check{}.problems(text))
    BOOST_ERROR(problem);
  BOOST_TEST(text.find("\ntroupe_runs_total{outcome=\"success\"} 1\n")
             != text.npos);
  // Prometheus' own opinion, where it is installed.
  if (std::system("command -v promtool >/dev/null") != 0)
    return;
  auto file = (troupe.folder.path / "metrics").string();
  std::ofstream{file} << text;
  BOOST_TEST(std::system(("promtool check metrics <" + file).c_str()) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
