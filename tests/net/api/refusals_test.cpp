// Every refusal names what is wrong, and the way out.
#include "runtime/engine/api_key.hpp"
#include "runtime/json/json.hpp"
#include "tests/support/http/http_server.hpp"

#include <boost/test/data/test_case.hpp>

using namespace troupe;
using test::ask;
using test::http_house;

BOOST_AUTO_TEST_SUITE(refusals_over_http)

namespace {

/// A request, and what its refusal says.
struct refused {
  const char* verb;
  const char* target;
  const char* body;
  const char* fields;
  int status;
  const char* names;
  const char* way_out;
};

std::ostream& operator<<(std::ostream& out, const refused& r) {
  return out << r.verb << " " << r.target;
}

const refused table[] = {
  {"GET", "/v2/runs", "", "", 404, "no such path", "/openapi.json"},
  {"GET", "/v1/tools/ad", "", "", 404, "no tool 'ad'", "did you mean 'add'"},
  {"GET", "/v1/tools/zzzzzzz", "", "", 404, "'zzzzzzz'", "GET /v1/tools"},
  {"GET", "/v1/sandbox-configs/x", "", "", 404, "sandbox config 'x'",
   "GET /v1/sandbox-configs"},
  {"GET", "/v1/runs/x", "", "", 404, "run 'x'", "GET /v1/runs"},
  {"DELETE", "/v1/keys/x", "", "", 404, "key 'x'", "GET /v1/keys"},
  {"GET", "/v1/package-sets/x", "", "", 404, "package set 'x'",
   "GET /v1/package-sets"},
  {"POST", "/v1/runs?wait=5", "{}", "", 422, "wait", "Prefer: wait="},
  {"GET", "/v1/runs/x/events?after=3", "", "", 422, "after", "Last-Event-ID"},
  {"GET", "/v1/keys?limt=1", "", "", 422, "limt", "did you mean 'limit'"},
  {"GET", "/v1/backends?x=1", "", "", 422, "\"x\"", "has no parameters"},
  {"GET", "/v1/agents/a/variables?limt=1", "", "", 422, "limt", "'limit'"},
  {"PATCH", "/v1/tools/add?force=1", "{}", "", 422, "force", "no parameters"},
  {"DELETE", "/v1/tools/add?force=1", "", "", 422, "force", "no parameters"},
  {"GET", "/v1/runs?phase=done", "", "", 422, "phase", "running"},
  {"GET", "/v1/runs?label=x", "", "", 422, "label", "value"},
  {"GET", "/v1/tools", "", "Host: other.example\r\n", 400, "Host", "one"},
  {"POST", "/v1/runs", "{}", "Origin: http://evil.example\r\n", 403,
   "other sites", "from a program"},
  {"PATCH", "/v1/tools/add", "{}", "If-Match: x\r\n", 412, "If-Match", "r5"},
  {"DELETE", "/v1/agents/a/variables/K", "", "If-Match: \"r1\"\r\n", 412,
   "no ETag", "without If-Match"},
};

} // namespace

BOOST_DATA_TEST_CASE(names_what_is_wrong_and_the_way_out,
                     boost::unit_test::data::make(table)) {
  http_house house;
  house.post("/v1/tools", R"({"source_code":"def add(a):\n  return a\n"})");
  auto a
    = ask(house.port, sample.verb, sample.target, sample.body, sample.fields);
  BOOST_TEST(a.status == sample.status, a.body);
  BOOST_TEST(a.body.find(sample.names) != a.body.npos, a.body);
  BOOST_TEST(a.body.find(sample.way_out) != a.body.npos, a.body);
}

BOOST_AUTO_TEST_CASE(names_the_limit_that_was_passed_and_its_setting) {
  net::server_options o;
  o.body_limit = 1'000;
  o.head_limit = 9'000;
  http_house house{o};
  auto body = house.post("/v1/keys", std::string(1'001, ' '));
  BOOST_TEST(body.status == 413);
  BOOST_TEST(body.body.find("1000 bytes") != body.body.npos);
  BOOST_TEST(body.body.find("http.max-body") != body.body.npos);
  auto head = house.get("/livez", "X-A: " + std::string(9'000, 'a') + "\r\n");
  BOOST_TEST(head.status == 431);
  BOOST_TEST(head.body.find("9000 bytes") != head.body.npos);
  BOOST_TEST(head.body.find("http.max-header") != head.body.npos);
  auto target = house.get("/" + std::string(8'200, 'a'));
  BOOST_TEST(target.status == 414);
  BOOST_TEST(target.body.find("8192 bytes") != target.body.npos);
}

BOOST_AUTO_TEST_CASE(names_the_scope_that_a_key_lacks) {
  net::server_options o;
  o.auth = net::auth_mode::required;
  http_house house{o};
  auto nobody = house.get("/v1/tools");
  BOOST_TEST(nobody.status == 401);
  BOOST_TEST(nobody.body.find("Authorization: Bearer") != nobody.body.npos);
  auto key = make_api_key(default_organization(), "r", 1);
  house.engine.add_key(key.record);
  auto bearer = "Authorization: Bearer " + key.text.reveal() + "\r\n";
  auto a = house.get("/v1/keys", bearer);
  BOOST_TEST(a.status == 403);
  BOOST_TEST(a.body.find("the scope 'admin'") != a.body.npos, a.body);
}

BOOST_AUTO_TEST_SUITE_END()
