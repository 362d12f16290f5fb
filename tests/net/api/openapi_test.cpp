// The document says what the server does, and nothing else: every route is in
// it, every operation is driven, every answer is checked against its schema.
#include "runtime/engine/kept_files.hpp"
#include "runtime/model/ids.hpp"
#include "tests/support/http/http_server.hpp"
#include "tests/support/http/openapi_check.hpp"

#include <set>

using namespace troupe;
using test::http_house;

BOOST_AUTO_TEST_SUITE(openapi)

namespace {

std::string lower(std::string_view text) {
  std::string out{text};
  for (char& c : out)
    c = static_cast<char>(std::tolower(c));
  return out;
}

/// Sends requests and holds every answer against the document.
struct driver {
  static net::api_options with(kept_files& files) {
    net::api_options o;
    o.files = &files;
    return o;
  }
  kept_files files{{.inline_bytes = 0}};
  http_house house{{}, with(files)};
  test::openapi_check check{document_of(house)};
  std::set<std::string> driven;

  static json::object document_of(http_house& house) {
    auto a = house.get("/openapi.json");
    BOOST_REQUIRE(a.status == 200);
    return json::parse_object(a.body).value();
  }
  const json::object& document() const { return check.document(); }

  /// `path` is the template, `names` fill its parameters in order.
  test::raw_answer drive(const std::string& verb, const std::string& path,
                         std::vector<std::string> names = {},
                         const std::string& body = {},
                         const std::string& fields = {}, int expected = 200,
                         const std::string& query = {}) {
    std::string target;
    std::size_t used = 0;
    for (std::size_t i = 0; i < path.size(); ++i)
      if (path[i] == '{') {
        target += names.at(used++);
        i = path.find('}', i);
      } else {
        target += path[i];
      }
    auto about = verb + " " + target;
    auto a = test::ask(house.port, verb, target + query, body, fields);
    BOOST_TEST(a.status == expected, about << ": " << a.status << a.body);
    BOOST_TEST(check.template_of(target) == path);
    for (const auto& problem : check.problems(verb, target, a))
      BOOST_ERROR(about << " " << a.status << ": " << problem);
    if (a.fields["content-type"] == "application/problem+json") {
      const auto problem = json::parse_object(a.body).value();
      const std::string page{problem.at("type").as_string()};
      BOOST_TEST(house.get(page).status == 200, page);
    }
    if (const auto* op = check.operation(verb, target))
      driven.insert(std::string{op->at("operationId").as_string()});
    return a;
  }

  std::string id_of(const test::raw_answer& a) {
    auto o = json::parse_object(a.body);
    BOOST_REQUIRE_MESSAGE(o.has_value() && o->contains("id"), a.body);
    return std::string{o->at("id").as_string()};
  }
};

const std::string code = R"("source_code":"def add(a: int):\n  return a\n")";

void drive_operators(driver& d) {
  d.drive("GET", "/livez");
  d.drive("GET", "/readyz");
  d.drive("GET", "/metrics");
  d.drive("GET", "/openapi.json");
  d.drive("GET", "/docs");
  d.drive("GET", "/ui");
  d.drive("GET", "/ui/{path}", {"runs"});
  d.drive("GET", "/problems/{code}", {"no_space"});
  d.drive("GET", "/problems/{code}", {"unknown"}, {}, {}, 404);
}

BOOST_AUTO_TEST_CASE(has_a_page_for_every_problem) {
  http_house house;
  auto has_page = [&](std::string_view code) {
    return house.get("/problems/" + std::string{code}).status == 200;
  };
  for (int i = 1; i <= static_cast<int>(ec::no_space); ++i)
    BOOST_TEST(has_page(to_string(static_cast<ec>(i))), i);
  for (int i = 1; i <= static_cast<int>(sandbox_problem::place_unavailable);
       ++i)
    BOOST_TEST(has_page(to_string(static_cast<sandbox_problem>(i))), i);
}

void drive_runs(driver& d) {
  const std::string run = R"({"source":"def f():\n  return 1\n"})";
  auto id = d.id_of(d.drive("POST", "/v1/runs", {}, run));
  d.drive("POST", "/v1/runs", {}, run, "Prefer: respond-async\r\n", 202);
  d.drive("POST", "/v1/runs", {}, run, "Accept: application/x-ndjson\r\n");
  d.drive("POST", "/v1/runs", {}, R"({"sorce":""})", {}, 422);
  d.drive("POST", "/v1/runs", {}, "{", {}, 400);
  d.drive("POST", "/v1/runs/explain", {}, run);
  d.drive("GET", "/v1/runs");
  d.drive("GET", "/v1/runs", {}, {}, {}, 422, "?limit=0");
  d.drive("GET", "/v1/runs/{id}", {id});
  d.drive("GET", "/v1/runs/{id}", {"run-x"}, {}, {}, 404);
  d.drive("GET", "/v1/runs/{id}/events", {id});
  d.drive("GET", "/v1/runs/{id}/events", {id}, {},
          "Accept: application/x-ndjson\r\n");
  d.drive("GET", "/v1/runs/{id}/logs", {id});
  run_result left;
  left.id = *run_id::parse(id);
  left.files = {{"a/b.bin", "application/octet-stream", 2, "\xff\x01", false}};
  d.files.take(default_organization(), left);
  d.drive("GET", "/v1/runs/{id}/files", {id}, {}, {}, 200, "?name=a/b.bin");
  d.drive("GET", "/v1/runs/{id}/files", {id}, {}, {}, 404, "?name=a");
  d.drive("GET", "/v1/runs/{id}/files", {id}, {}, {}, 422);
  d.drive("POST", "/v1/runs/{id}/cancel", {id});
  d.drive("GET", "/v1/runs/{id}/request", {id});
  d.drive("POST", "/v1/runs/{id}/rerun", {id});
  d.drive("POST", "/v1/runs/{id}/rerun", {id}, {}, "Prefer: respond-async\r\n",
          202);
  const std::string batch = R"({"items":[{"command":"true"},{"comand":"x"}]})";
  d.drive("POST", "/v1/batches", {}, batch);
  d.drive("POST", "/v1/batches", {}, batch, "Accept: text/event-stream\r\n");
  d.drive("GET", "/v1/runs", {}, {}, {}, 200,
          "?phase=ended&status=success&tool=x&label=a%3Db");
  d.drive("POST", "/v1/runs", {}, run,
          "Accept: text/event-stream\r\nPrefer: respond-async\r\n");
  d.drive("POST", "/v1/runs", {}, run, "Origin: http://evil.example\r\n", 403);
  d.drive("POST", "/v1/runs", {}, run, "Content-Encoding: gzip\r\n", 415);
  d.drive("POST", "/v1/runs", {}, run, "Authorization: Bearer x\r\n", 401);
  d.house.engine.play = [](const run_request&) -> result<run_result> {
    return error{ec::unavailable, "no backend", {}, {}};
  };
  d.drive("POST", "/v1/runs", {}, run, {}, 503);
}

void drive_tools(driver& d) {
  auto made = d.drive("POST", "/v1/tools", {}, "{" + code + "}", {}, 201);
  auto id = d.id_of(made);
  d.drive("POST", "/v1/tools", {}, "{" + code + "}", {}, 409);
  d.drive("PUT", "/v1/tools", {}, "{" + code + R"(,"tags":["a"]})");
  d.drive("GET", "/v1/tools");
  d.drive("GET", "/v1/tools/{tool}", {id});
  d.drive("GET", "/v1/tools/{tool}", {"add"}, {}, "If-None-Match: \"r2\"\r\n",
          304);
  d.drive("POST", "/v1/tools/derive-schema", {}, "{" + code + "}");
  d.drive("POST", "/v1/tools/{tool}/run", {"add"}, R"({"args":{"a":1}})");
  d.drive("PATCH", "/v1/tools/{tool}", {id}, R"({"description":"new"})",
          "If-Match: \"r2\"\r\n");
  d.drive("PATCH", "/v1/tools/{tool}", {id}, R"({"description":"new"})",
          "If-Match: \"r2\"\r\n", 412);
  d.drive("DELETE", "/v1/tools/{tool}", {id}, {}, {}, 204);
  d.drive("DELETE", "/v1/tools/{tool}", {id}, {}, {}, 404);
}

void drive_configs(driver& d) {
  auto id
    = d.id_of(d.drive("POST", "/v1/sandbox-configs", {},
                      R"({"type":"e2b","config":{"timeout":60}})", {}, 201));
  d.drive("POST", "/v1/sandbox-configs", {},
          R"({"type":"e2b","config":{"tiemout":60}})", {}, 422);
  d.drive("POST", "/v1/sandbox-configs/default", {}, R"({"type":"modal"})", {},
          201);
  d.drive("GET", "/v1/sandbox-configs");
  d.drive("GET", "/v1/sandbox-configs/{config}", {id});
  d.drive("PATCH", "/v1/sandbox-configs/{config}", {id},
          R"({"config":{"timeout":70}})", "If-Match: \"r1\"\r\n");
  d.drive("PATCH", "/v1/sandbox-configs/{config}", {id},
          R"({"config":{"timeout":70}})", "If-Match: \"r1\"\r\n", 412);
  auto variable
    = d.id_of(d.drive("POST", "/v1/sandbox-configs/{config}/variables", {id},
                      R"({"key":"TOKEN","value":"hidden-value"})", {}, 201));
  auto listed = d.drive("GET", "/v1/sandbox-configs/{config}/variables", {id});
  BOOST_TEST(listed.body.find("hidden-value") == std::string::npos);
  d.drive("POST", "/v1/sandbox-configs/{config}/variables", {id},
          R"({"key":"LD_PRELOAD","value":"x"})", {}, 422);
  d.drive("PATCH", "/v1/variables/{variable}", {variable},
          R"({"value":"hidden-value-2"})");
  d.drive("DELETE", "/v1/variables/{variable}", {variable}, {}, {}, 204);
  d.drive("DELETE", "/v1/sandbox-configs/{config}", {id}, {}, {}, 204);
  d.drive("GET", "/v1/sandbox-configs/{config}", {id}, {}, {}, 404);
}

void drive_package_sets(driver& d) {
  const std::string place = "/v1/package-sets";
  const std::string wish = R"({"pip_requirements":["numpy==1.26.4"]})";
  auto& packages = d.house.packages;
  d.drive("POST", place, {}, wish, {}, 202);
  d.drive("POST", place, {}, R"({"pip_requirement":["numpy"]})", {}, 422);
  d.drive("GET", place + "/{fingerprint}", {"f1"});
  packages.end(environment_state::ready);
  d.drive("POST", place, {}, wish);
  d.drive("POST", place, {}, wish, "Accept: application/x-ndjson\r\n");
  d.drive("GET", place);
  d.drive("GET", place + "/{fingerprint}", {"f2"}, {}, {}, 404);
  d.drive("GET", place + "/{fingerprint}/events", {"f1"});
  d.drive("GET", place + "/{fingerprint}/events", {"f1"}, {},
          "Accept: application/x-ndjson\r\n");
  d.drive("DELETE", place + "/{fingerprint}", {"f1"}, {}, {}, 204);
}

void drive_sandboxes(driver& d) {
  const std::string place = "/v1/sandboxes", one = place + "/{sandbox}";
  auto id = d.id_of(d.drive("POST", place, {}, R"({"name":"web"})", {}, 201));
  d.drive("POST", place, {}, R"({"wait":"none"})", {}, 202);
  d.drive("POST", place, {}, R"({"timeuot":1})", {}, 422);
  d.drive("GET", place);
  d.drive("GET", place, {}, {}, {}, 200,
          "?state=running&metadata=chat:42&name=web&place=local&template=x"
          "&session=chat-42");
  d.drive("GET", place, {}, {}, {}, 422, "?state=dead");
  d.drive("GET", one, {id});
  d.drive("GET", one, {"x"}, {}, {}, 404);
  d.drive("POST", one + "/renew", {id}, R"({"timeout":"5m"})");
  d.drive("POST", one + "/renew", {id}, "{}", {}, 422);
  d.drive("POST", place, {}, R"({"session":"chat-42"})");
  d.drive("PATCH", one, {id},
          R"({"metadata":{"a":"b","c":null},"idle_timeout":null})");
  d.drive("PATCH", one, {id}, R"({"network":"everything"})", {}, 422);
  d.drive("POST", one + "/pause", {id});
  d.drive("POST", one + "/resume", {id});
  d.drive("POST", one + "/connect", {id}, R"({"timeout":60})");
  d.drive("POST", one + "/connect", {id});
  auto snapshot = d.id_of(
    d.drive("POST", one + "/snapshots", {id}, R"({"name":"s"})", {}, 201));
  d.drive("POST", one + "/snapshots", {id}, R"({"nmae":"s"})", {}, 422);
  d.drive("POST", one + "/rollback", {id}, R"({"snapshot":"s"})");
  d.drive("POST", one + "/rollback", {id}, "{}", {}, 422);
  d.drive("POST", one + "/fork", {id}, R"({"count":2})", {}, 201);
  d.drive("POST", one + "/fork", {id}, R"({"count":0})", {}, 422);
  d.drive("POST", one + "/branch", {id}, R"({"count":2})", {}, 201);
  d.drive("POST", one + "/branch", {id}, R"({"contexts":["c_none"]})", {}, 404);
  d.drive("POST", one + "/branch", {id}, R"({"count":0})", {}, 422);
  d.drive("GET", "/v1/snapshots");
  d.drive("GET", "/v1/snapshots/{snapshot}", {snapshot});
  d.drive("GET", "/v1/snapshots/{snapshot}", {"x"}, {}, {}, 404);
  d.drive("DELETE", "/v1/snapshots/{snapshot}", {snapshot}, {}, {}, 204);
  d.drive("GET", one + "/events", {id});
  d.drive("GET", one + "/events", {id}, {}, {}, 200, "?after=1&follow=true");
  d.drive("GET", one + "/events", {id}, {}, {}, 422, "?after=-1");
  d.house.sandboxes.next_failure
    = sandbox_error{sandbox_problem::sandbox_ended, ec::not_found, "over"};
  d.drive("GET", one, {id}, {}, {}, 410);
  d.house.sandboxes.next_failure = sandbox_error{
    sandbox_problem::unsupported_here, ec::invalid_request, "not here"};
  d.drive("POST", place, {}, R"({"on_timeout":"pause"})", {}, 501);
}

void drive_sandbox_processes(driver& d) {
  const std::string one = "/v1/sandboxes/{sandbox}";
  auto id = d.id_of(d.drive("POST", "/v1/sandboxes", {}, "{}", {}, 201));
  d.drive("POST", one + "/exec", {id}, R"({"command":"echo hi"})");
  d.drive("POST", one + "/exec", {id}, R"({"comand":"echo hi"})", {}, 422);
  d.drive("POST", one + "/exec", {"x"}, R"({"command":"echo hi"})", {}, 404);
  const auto all = one + "/processes", process = all + "/{process}";
  auto p = d.id_of(d.drive("POST", all, {id}, R"({"argv":["wait"]})", {}, 201));
  d.drive("GET", all, {id});
  d.drive("GET", process, {id, p});
  d.drive("GET", process, {id, "p_none"}, {}, {}, 404);
  d.drive("POST", process + "/input", {id, p}, "more\n", {}, 204);
  d.drive("GET", process + "/output", {id, p});
  d.drive("GET", process + "/output", {id, p}, {}, {}, 200,
          "?stream=stdout&from=2&encoding=base64");
  d.drive("GET", process + "/output", {id, p}, {}, {}, 422, "?from=2");
  d.drive("POST", process + "/resize", {id, p}, R"({"cols":1})", {}, 409);
  d.drive("GET", process + "/terminal", {id, p}, {}, {}, 409);
  const auto t
    = d.id_of(d.drive("POST", all, {id},
                      R"({"argv":["wait"],"terminal":{"cols":120}})", {}, 201));
  d.drive("GET", process, {id, t});
  d.drive("POST", process + "/resize", {id, t}, R"({"cols":0})", {}, 422);
  d.drive("POST", process + "/resize", {id, t}, R"({"cols":99})", {}, 204);
  d.drive("GET", process + "/terminal", {id, t}, {}, {}, 426);
  d.drive("GET", process + "/terminal", {id, t}, {}, {}, 422, "?from=-1");
  d.drive("POST", process + "/signal", {id, p}, R"({"signal":"NONE"})", {},
          422);
  d.drive("POST", process + "/signal", {id, p}, R"({"signal":"TERM"})", {},
          204);
  d.drive("POST", process + "/signal", {id, p}, R"({"signal":15})", {}, 409);
  d.drive("POST", process + "/close", {id, p}, {}, {}, 409);
  d.drive("GET", process + "/output", {id, p}, {}, {}, 200, "?follow=true");
  d.drive("GET", process + "/output", {id, p}, {},
          "Accept: text/event-stream\r\n", 200, "?follow=true");
  d.drive("DELETE", process, {id, p}, {}, {}, 204);
  d.drive("DELETE", process, {id, p}, {}, {}, 404);
}

void drive_sandbox_contexts(driver& d) {
  const std::string one = "/v1/sandboxes/{sandbox}";
  auto id = d.id_of(d.drive("POST", "/v1/sandboxes", {}, "{}", {}, 201));
  const std::string cell = R"({"language":"python","code":"1"})";
  d.drive("POST", one + "/execute", {id}, cell);
  d.drive("POST", one + "/execute", {id}, R"({"code":"1"})", {}, 422);
  d.drive("POST", one + "/execute", {id}, cell,
          "Accept: application/x-ndjson\r\n");
  d.drive("POST", one + "/execute", {id}, cell,
          "Accept: text/event-stream\r\n");
  const auto all = one + "/contexts", context = all + "/{context}";
  d.drive("POST", all, {id}, R"({"language":"perl"})", {}, 422);
  auto c
    = d.id_of(d.drive("POST", all, {id}, R"({"language":"python"})", {}, 201));
  d.drive("GET", all, {id});
  d.drive("GET", context, {id, c});
  d.drive("GET", context, {id, "c_none"}, {}, {}, 404);
  d.drive("POST", context + "/execute", {id, c}, R"({"code":"raise"})");
  d.drive("POST", context + "/execute", {id, c}, R"({"code":"raise"})",
          "Accept: application/x-ndjson\r\n");
  d.drive("POST", context + "/execute", {id, c}, cell, {}, 422);
  d.drive("POST", context + "/interrupt", {id, c}, {}, {}, 409);
  d.drive("POST", context + "/restart", {id, c});
  d.drive("DELETE", context, {id, c}, {}, {}, 204);
  d.drive("DELETE", context, {id, c}, {}, {}, 404);
}

void drive_sandbox_files(driver& d) {
  const std::string one = "/v1/sandboxes/{sandbox}";
  auto id = d.id_of(d.drive("POST", "/v1/sandboxes", {}, "{}", {}, 201));
  const auto content = one + "/files/content";
  d.drive("PUT", content, {id}, "hello", {}, 204, "?path=/tmp/a");
  d.drive("PUT", content, {id}, "hello", {}, 422, "?path=tmp");
  d.drive("GET", content, {id}, {}, {}, 200, "?path=/tmp/a");
  d.drive("GET", content, {id}, {}, "Range: bytes=1-2\r\n", 206,
          "?path=/tmp/a");
  d.drive("GET", content, {id}, {}, "Range: bytes=9-\r\n", 416, "?path=/tmp/a");
  const auto search = one + "/files/search", watch = one + "/files/watch",
             archive = one + "/files/archive";
  d.drive("GET", search, {id}, {}, {}, 200, "?path=/tmp&name=*.py");
  d.drive("GET", search, {id}, {}, {}, 200,
          "?path=/tmp&text=x&ignore_case=true&limit=1");
  d.drive("GET", search, {id}, {}, {}, 422, "?path=/tmp");
  d.drive("GET", archive, {id}, {}, {}, 200, "?path=/tmp/a");
  d.drive("GET", archive, {id}, {}, {}, 404, "?path=/tmp/none");
  d.drive("PUT", archive, {id}, "tar", {}, 200, "?path=/tmp/x");
  d.drive("PUT", archive, {id}, "bad", {}, 422, "?path=/tmp/x");
  d.drive("GET", watch, {id}, {}, {}, 404, "?path=/none");
  auto& told = *d.house.sandboxes.all_trees.watched;
  told.tell({file_event::kind::moved, "/tmp/a", "/tmp/b"});
  told.end(fail(ec::unavailable, "the folder is gone"));
  d.drive("GET", watch, {id}, {}, {}, 200, "?path=/tmp&recursive=true");
  d.drive("GET", watch, {id}, {}, "Accept: text/event-stream\r\n", 200,
          "?path=/tmp");
  d.drive("GET", content, {id}, {}, {}, 404, "?path=/tmp/b");
  d.drive("GET", content, {id}, {}, {}, 422);
  d.drive("GET", one + "/files", {id}, {}, {}, 200, "?path=/tmp");
  d.drive("GET", one + "/files/stat", {id}, {}, {}, 200, "?path=/tmp/a");
  d.drive("POST", one + "/files/mkdir", {id}, R"({"path":"/tmp/x"})", {}, 204);
  d.drive("POST", one + "/files/mkdir", {id}, R"({"path":"x"})", {}, 422);
  d.drive("POST", one + "/files/move", {id},
          R"({"from":"/tmp/a","to":"/tmp/c"})", {}, 204);
  d.house.sandboxes.next_failure
    = sandbox_error{sandbox_problem::disk_limit, ec::no_space, "full"};
  d.drive("PUT", content, {id}, "hello", {}, 507, "?path=/tmp/a");
  d.drive("DELETE", content, {id}, {}, {}, 204, "?path=/tmp/c");
  d.drive("DELETE", one, {id}, {}, {}, 204);
  d.drive("DELETE", one, {id}, {}, {}, 404);
}

void drive_sandbox_ports(driver& d) {
  const std::string one = "/v1/sandboxes/{sandbox}";
  const auto port = one + "/ports/{port}";
  auto id = d.id_of(d.drive("POST", "/v1/sandboxes", {}, "{}", {}, 201));
  d.drive("GET", one + "/ports", {id});
  d.drive("POST", port, {id, "3000"}, {}, {}, 201);
  d.drive("POST", port, {id, "3000"}, R"({"expires_in":60})", {}, 201);
  d.drive("POST", port, {id, "3000"}, R"({"expires_in":1})", {}, 422);
  d.drive("POST", port, {id, "3000"}, R"({"public":true})", {}, 422);
  d.drive("POST", port, {id, "x"}, {}, {}, 422);
  d.drive("GET", one + "/ports", {id});
  d.drive("DELETE", port, {id, "3000"}, {}, {}, 204);
  d.drive("GET", port + "/proxy/{path}", {id, "3000", "x"}, {}, {}, 502);
  d.drive("GET", port + "/proxy/{path}", {id, "0", "x"}, {}, {}, 404);
  d.drive("GET", port + "/tunnel", {id, "3000"}, {}, {}, 426);
  d.drive("DELETE", one, {id}, {}, {}, 204);
  d.drive("GET", one + "/ports", {id}, {}, {}, 404);
}

void drive_the_rest(driver& d) {
  const std::string agent = "/v1/agents/{agent}/variables";
  d.drive("PUT", agent, {"agent-1"}, R"({"values":{"A":"1"}})");
  d.drive("PATCH", agent, {"agent-1"}, R"({"values":{"B":"2"}})");
  d.drive("PATCH", agent, {"agent-1"}, R"({"values":{"B=":"2"}})", {}, 422);
  d.drive("GET", agent, {"agent-1"});
  d.drive("DELETE", agent + "/{key}", {"agent-1", "A"}, {}, {}, 204);
  auto key = d.drive("POST", "/v1/keys", {},
                     R"({"name":"ci","scopes":["run"]})", {}, 201);
  BOOST_TEST(key.body.find("troupe_") != std::string::npos);
  for (int status : {201, 409})
    d.drive("POST", "/v1/keys", {}, R"({"name":"once","scopes":["run"]})",
            "Idempotency-Key: once\r\n", status);
  auto listed = d.drive("GET", "/v1/keys");
  BOOST_TEST(listed.body.find("troupe_") == std::string::npos);
  d.drive("DELETE", "/v1/keys/{key}", {d.id_of(key)}, {}, {}, 204);
  d.drive("POST", "/v1/maintenance/backups", {},
          R"({"directory":"/backups/a"})");
  d.drive("POST", "/v1/maintenance/backups", {}, R"({"directory":"a"})", {},
          422);
  d.drive("POST", "/v1/maintenance/master-key");
  d.drive("POST", "/v1/maintenance/drain", {}, R"({"timeout_seconds":5})", {},
          503);
  d.drive("GET", "/v1/backends");
  d.drive("GET", "/v1/audit");
  d.drive("GET", "/v1/audit", {}, {}, {}, 200, "?last=1");
  d.drive("GET", "/v1/organizations/self");
  d.drive("GET", "/v1/organizations");
  d.drive("GET", "/v1/organizations", {}, {}, {}, 422, "?limit=0");
  const std::string tenant = "/v1/organizations/{organization}";
  d.drive("DELETE", tenant, {organization_id::make().str()}, {}, {}, 404);
  d.drive("DELETE", tenant, {default_organization().str()}, {}, {}, 204);
}

} // namespace

BOOST_AUTO_TEST_CASE(documents_every_answer_of_every_operation) {
  driver d;
  drive_operators(d);
  drive_tools(d);
  drive_runs(d);
  drive_configs(d);
  drive_package_sets(d);
  drive_sandboxes(d);
  drive_sandbox_processes(d);
  drive_sandbox_contexts(d);
  drive_sandbox_files(d);
  drive_sandbox_ports(d);
  drive_the_rest(d);
  for (const auto& [path, item] : d.document().at("paths").as_object())
    for (const auto& [verb, op] : item.as_object()) {
      std::string name{op.at("operationId").as_string()};
      BOOST_TEST(d.driven.contains(name), name << " is never driven");
    }
}

BOOST_AUTO_TEST_CASE(shows_an_example_of_every_body_and_each_one_fits) {
  driver d;
  std::size_t seen = 0;
  auto look = [&](const std::string& about, const json::object& holder) {
    auto* content = holder.if_contains("content");
    if (!content)
      return;
    for (const auto& [type, media] : content->as_object()) {
      const auto& schema = media.at("schema").as_object();
      if (!schema.contains("$ref"))
        continue;
      auto* example = d.check.resolved(schema).if_contains("example");
      BOOST_TEST_REQUIRE(example, about << " has no example");
      test::json_schema checker{d.document()};
      for (const auto& problem : checker.problems(*example, schema))
        BOOST_ERROR(about << ": " << problem);
      ++seen;
      const auto* named = media.as_object().if_contains("examples");
      if (!named)
        continue;
      for (const auto& [name, one] : named->as_object())
        for (const auto& problem : checker.problems(one.at("value"), schema))
          BOOST_ERROR(about << ", " << name << ": " << problem);
    }
  };
  for (const auto& [path, item] : d.document().at("paths").as_object())
    for (const auto& [verb, op] : item.as_object()) {
      auto about = std::string{verb} + " " + std::string{path};
      if (auto* body = op.as_object().if_contains("requestBody"))
        look(about, body->as_object());
      for (const auto& [status, answer] : op.at("responses").as_object())
        look(about + " " + std::string{status},
             d.check.resolved(answer.as_object()));
    }
  BOOST_TEST(seen > 100u);
}

BOOST_AUTO_TEST_CASE(declares_an_idempotency_key_for_every_post) {
  driver d;
  for (const auto& [path, item] : d.document().at("paths").as_object()) {
    auto* post = item.as_object().if_contains("post");
    if (!post)
      continue;
    bool declared = false;
    for (const auto& p : post->at("parameters").as_array())
      declared |= d.check.resolved(p.as_object()).at("name").as_string()
        == "Idempotency-Key";
    BOOST_TEST(declared, path << " takes none");
  }
}

BOOST_AUTO_TEST_CASE(knows_every_route_and_no_other) {
  driver d;
  std::set<std::string> documented;
  for (const auto& [path, item] : d.document().at("paths").as_object())
    for (const auto& [verb, op] : item.as_object())
      documented.insert(std::string{verb} + " " + std::string{path});
  std::set<std::string> served;
  for (const auto& r : d.house.server.routes().routes()) {
    auto path = r.path;
    // What a server in a sandbox answers is its own: with every method, at
    // every path. The document has one of them.
    if (r.rules.takes_over && path.find("/proxy") != path.npos
        && (r.verb != net::method::get || path.ends_with("/proxy")))
      continue;
    if (path.ends_with("...}"))
      path.replace(path.size() - 4, 3, "");
    served.insert(lower(net::to_string(r.verb)) + " " + path);
  }
  for (const auto& one : served)
    BOOST_TEST(documented.contains(one), one << " is not documented");
  for (const auto& one : documented)
    BOOST_TEST(served.contains(one), one << " is not served");
}

BOOST_AUTO_TEST_CASE(shows_itself_to_people_without_anything_from_elsewhere) {
  http_house house;
  auto page = house.get("/docs");
  BOOST_TEST(page.fields["content-type"] == "text/html; charset=utf-8");
  BOOST_TEST(page.body.find("http://") == std::string::npos);
  BOOST_TEST(page.body.find("https://") == std::string::npos);
  BOOST_TEST(page.fields["content-security-policy"].find("default-src 'none'")
             != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
