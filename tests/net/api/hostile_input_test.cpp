// What clients put into queries, paths and bodies: H27 on of
// docs/reference/rules.md.
#include "tests/support/http/http_server.hpp"

using namespace troupe;
using test::http_house;

BOOST_AUTO_TEST_SUITE(hostile_input)

// H36
BOOST_AUTO_TEST_CASE(refuses_pages_that_make_no_sense) {
  http_house house;
  for (auto list : {"/v1/runs", "/v1/tools", "/v1/sandbox-configs", "/v1/audit",
                    "/v1/package-sets"})
    for (auto query :
         {"?limit=-1", "?limit=0", "?limit=1000000000000000000", "?limit=x",
          "?limit=1&limit=2", "?after=garbage", "?after=00", "?limt=1"}) {
      auto a = house.get(std::string{list} + query);
      BOOST_TEST(a.status == 422, list << query << ": " << a.status);
    }
  auto typo = house.get("/v1/runs?limt=1");
  BOOST_TEST(typo.body.find("did you mean 'limit'?") != std::string::npos,
             typo.body);
}

// H30
BOOST_AUTO_TEST_CASE(knows_no_id_that_is_none) {
  http_house house;
  const std::string uuid = "00000000-0000-4000-8000-000000000000";
  for (auto place : {"/v1/runs/", "/v1/sandbox-configs/", "/v1/variables/",
                     "/v1/keys/", "/v1/package-sets/"})
    for (const auto& id :
         {std::string{"a%2Fb"}, std::string{"%252e%252e"}, std::string{"a:b"},
          std::string{"..%2f.."}, "run-" + uuid, "RUN-" + uuid,
          std::string(4'000, 'a')}) {
      auto verb = std::string_view{place} == "/v1/variables/"
          || std::string_view{place} == "/v1/keys/"
        ? "DELETE"
        : "GET";
      auto a = test::ask(house.port, verb, place + id);
      BOOST_TEST((a.status == 404 || a.status == 400),
                 place << id << ": " << a.status);
      BOOST_TEST(a.fields["content-type"] == "application/problem+json");
    }
  BOOST_TEST(house.get("/v1/runs/a%00b").status == 400);
}

// H27
BOOST_AUTO_TEST_CASE(takes_no_number_that_it_could_not_keep) {
  http_house house;
  for (auto body : {R"({"command":"true","priority":1e999})",
                    R"({"command":"true","priority":18446744073709551616})",
                    R"({"command":"true","priority":1.5})",
                    R"({"command":"true","priority":"1"})",
                    R"({"command":"true","return_char_limit":-1})",
                    R"({"command":"true","limits":{"wall_seconds":1e300}})"}) {
    auto a = house.post("/v1/runs", body);
    BOOST_TEST((a.status == 400 || a.status == 422), body);
  }
  auto digits = R"({"command":"true","priority":)" + std::string(5'000, '9');
  BOOST_TEST(house.post("/v1/runs", digits + "}").status == 400);
  auto key = "{\"" + std::string(1 << 20, 'k') + "\":1}";
  auto a = house.post("/v1/runs", key);
  BOOST_TEST((a.status == 400 || a.status == 422));
  BOOST_TEST(a.body.size() < 4'096u); // it is not sent back
  std::string utf16{"{\0}\0", 4};
  BOOST_TEST(house.post("/v1/runs", utf16).status == 400);
}

BOOST_AUTO_TEST_CASE(names_the_nearest_field_for_every_typo) {
  http_house house;
  const std::string config
    = house.post("/v1/sandbox-configs", R"({"type":"local"})")
        .fields["location"];
  struct {
    const char* verb;
    std::string path;
    std::string body;
    const char* meant;
  } const table[] = {
    {"POST", "/v1/runs", R"({"comand":"true"})", "command"},
    {"POST", "/v1/runs", R"({"command":"true","limits":{"wall_second":1}})",
     "wall_seconds"},
    {"POST", "/v1/runs/explain", R"({"command":"x","enviroment":{}})", ""},
    {"POST", "/v1/tools/x/run", R"({"argss":{}})", "args"},
    {"POST", "/v1/batches", R"({"item":[]})", "items"},
    {"POST", "/v1/batches", R"({"items":[{"command":"x","labls":{}}]})",
     "labels"},
    {"POST", "/v1/tools", R"({"source_cod":"def f(): pass"})", "source_code"},
    {"PUT", "/v1/tools", R"({"source_code":"def f(): pass","tag":[]})", "tags"},
    {"POST", "/v1/tools/derive-schema", R"({"source_cod":"def f(): pass"})",
     "source_code"},
    {"POST", "/v1/sandbox-configs", R"({"typ":"local"})", "type"},
    {"POST", "/v1/sandbox-configs",
     R"({"type":"local","config":{"sandbox_dri":"x"}})", "sandbox_dir"},
    {"POST", "/v1/sandbox-configs/default", R"({"tipe":"e2b"})", "type"},
    {"PATCH", config, R"({"confg":{}})", "config"},
    {"POST", config + "/variables", R"({"key":"A","valeu":"1"})", "value"},
    {"PUT", "/v1/agents/a/variables", R"({"value":{}})", "values"},
    {"POST", "/v1/package-sets", R"({"pip_requirement":["a"]})",
     "pip_requirements"},
    {"POST", "/v1/keys", R"({"name":"a","scope":["run"]})", "scopes"},
  };
  for (const auto& row : table) {
    auto a = test::ask(house.port, row.verb, row.path, row.body);
    // An item of a batch fails by itself.
    auto expected = row.body.find("items") == row.body.npos ? 422 : 200;
    BOOST_TEST(a.status == expected, row.path << row.body << ": " << a.status);
    if (*row.meant)
      BOOST_TEST(a.body.find("did you mean '" + std::string{row.meant} + "'?")
                   != std::string::npos,
                 row.path << row.body << ": " << a.body);
  }
}

BOOST_AUTO_TEST_SUITE_END()
