// What the resources of /v1 promise beyond their shapes.
#include "net/api/shared/request_body.hpp"
#include "runtime/engine/api_key.hpp"
#include "tests/support/http/api_words.hpp"
#include "tests/support/http/http_server.hpp"

using namespace troupe;
using test::ask;
using test::count;
using test::http_house;
using test::object_of;
using test::tool_body;

BOOST_AUTO_TEST_SUITE(resources_over_http)

BOOST_AUTO_TEST_CASE(lists_tools_by_name_in_pages) {
  http_house house;
  for (std::string name : {"delta", "alpha", "charlie", "bravo"})
    BOOST_TEST(house.post("/v1/tools", tool_body(name)).status == 201);
  std::string names;
  std::string query = "?limit=3";
  for (int i = 0; i < 2; ++i) {
    auto page = object_of(house.get("/v1/tools" + query));
    for (const auto& t : page.at("items").as_array())
      names += std::string{t.at("name").as_string()} + " ";
    if (i == 0)
      query = "?limit=3&after=" + std::string{page.at("next").as_string()};
    else
      BOOST_TEST(page.at("next").is_null());
  }
  BOOST_TEST(names == "alpha bravo charlie delta ");
  auto found = object_of(house.get("/v1/tools?search=char"));
  BOOST_TEST(found.at("items").as_array().size() == 1u);
}

BOOST_AUTO_TEST_CASE(minds_the_revision_of_whatever_is_replaced_or_deleted) {
  http_house house;
  const std::string stale = "If-Match: \"r7\"\r\n";
  const std::string first = "If-Match: \"r1\"\r\n";
  auto tool = house.post("/v1/tools", tool_body("f"));
  BOOST_TEST(tool.fields["etag"] == "\"r1\"");
  auto place = tool.fields["location"];
  BOOST_TEST(ask(house.port, "PUT", "/v1/tools", tool_body("f"), stale).status
             == 412);
  BOOST_TEST(ask(house.port, "DELETE", place, {}, stale).status == 412);
  // A name that is taken is no revision that has changed.
  house.post("/v1/tools", tool_body("g"));
  auto taken = ask(house.port, "PATCH", place, R"({"name":"g"})", first);
  BOOST_TEST(taken.status == 409, taken.body);
  BOOST_TEST(ask(house.port, "DELETE", place, {}, first).status == 204);
  const std::string wish = R"({"type":"e2b","config":{"timeout":60}})";
  auto config = house.post("/v1/sandbox-configs", wish);
  BOOST_TEST(house.post("/v1/sandbox-configs", wish, stale).status == 412);
  auto there = config.fields["location"];
  BOOST_TEST(ask(house.port, "DELETE", there, {}, stale).status == 412);
  BOOST_TEST(ask(house.port, "DELETE", there, {}, first).status == 204);
}

BOOST_AUTO_TEST_CASE(lists_keys_and_agent_variables_in_pages) {
  http_house house;
  for (int i = 0; i < 3; ++i)
    house.post("/v1/keys", R"({"name":"k","scopes":["run"]})");
  ask(house.port, "PUT", "/v1/agents/a/variables",
      R"({"values":{"A":"1","B":"2","C":"3"}})");
  for (std::string list : {"/v1/keys", "/v1/agents/a/variables"}) {
    auto page = object_of(house.get(list + "?limit=2"));
    BOOST_TEST(page.at("items").as_array().size() == 2u);
    std::string next{page.at("next").as_string()};
    page = object_of(house.get(list + "?limit=2&after=" + next));
    BOOST_TEST(page.at("items").as_array().size() == 1u);
    BOOST_TEST(page.at("next").is_null());
  }
}

BOOST_AUTO_TEST_CASE(derives_again_when_the_source_changes) {
  http_house house;
  auto made = object_of(house.post("/v1/tools", tool_body("f")));
  std::string place = "/v1/tools/" + std::string{made.at("id").as_string()};
  auto changed = ask(house.port, "PATCH", place, R"({"source_code":"x = 1"})");
  BOOST_TEST(changed.status == 422); // there is no function any more
  auto typo = ask(house.port, "PATCH", place, R"({"descripton":"x"})");
  BOOST_TEST(typo.status == 422);
  BOOST_TEST(typo.body.find("description") != std::string::npos);
}

// H37
BOOST_AUTO_TEST_CASE(keeps_one_organization_from_another) {
  http_house house;
  auto made = object_of(house.post("/v1/tools", tool_body("mine")));
  auto other = make_api_key(organization_id::make(), "o", 7);
  house.engine.add_key(other.record);
  auto bearer = "Authorization: Bearer " + other.text.reveal() + "\r\n";
  std::string id{made.at("id").as_string()};
  for (std::string path : {"/v1/tools/" + id, std::string{"/v1/tools/mine"}}) {
    BOOST_TEST(house.get(path, bearer).status == 404);
    BOOST_TEST(ask(house.port, "DELETE", path, {}, bearer).status == 404);
    BOOST_TEST(ask(house.port, "PATCH", path, "{}", bearer).status == 404);
  }
  auto list = object_of(house.get("/v1/tools", bearer));
  BOOST_TEST(list.at("items").as_array().empty());
  BOOST_TEST(object_of(house.get("/v1/keys")).at("items").as_array().empty());
}

BOOST_AUTO_TEST_CASE(shows_and_deletes_organizations_to_whom_they_belong) {
  http_house house;
  house.post("/v1/tools", tool_body("mine"));
  auto other = make_api_key(organization_id::make(), "o", 7);
  house.engine.add_key(other.record);
  auto bearer = "Authorization: Bearer " + other.text.reveal() + "\r\n";
  const std::string place = "/v1/organizations";
  auto theirs = place + "/" + other.record.organization.str();
  auto ours = place + "/" + default_organization().str();
  // An operator sees all, page by page; a key its own.
  auto all = object_of(house.get(place));
  BOOST_TEST(all.at("items").as_array().size() == 2u);
  auto page = object_of(house.get(place + "?limit=1"));
  BOOST_TEST(page.at("items").as_array().size() == 1u);
  std::string next{page.at("next").as_string()};
  auto rest = object_of(house.get(place + "?limit=1&after=" + next));
  BOOST_TEST(rest.at("items").as_array().size() == 1u);
  BOOST_TEST(rest.at("next").is_null());
  auto own = object_of(house.get(place, bearer)).at("items").as_array();
  BOOST_TEST_REQUIRE(own.size() == 1u);
  BOOST_TEST(own[0].at("id").as_string() == other.record.organization.str());
  BOOST_TEST(own[0].at("keys") == 1);
  // A foreign one answers as an unknown one.
  auto foreign = ask(house.port, "DELETE", ours, {}, bearer);
  auto unknown = ask(house.port, "DELETE",
                     place + "/" + organization_id::make().str(), {}, bearer);
  BOOST_TEST(foreign.status == 404);
  BOOST_TEST(unknown.status == 404);
  BOOST_TEST(house.get("/v1/tools/mine").status == 200);
  auto run_only = make_api_key(other.record.organization, "r", 1);
  house.engine.add_key(run_only.record);
  auto weak = "Authorization: Bearer " + run_only.text.reveal() + "\r\n";
  BOOST_TEST(ask(house.port, "DELETE", theirs, {}, weak).status == 403);
  BOOST_TEST(ask(house.port, "DELETE", theirs, {}, bearer).status == 204);
  BOOST_TEST(house.get("/v1/tools", bearer).status == 401); // its keys went
  BOOST_TEST(ask(house.port, "DELETE", theirs).status == 404);
  BOOST_TEST(ask(house.port, "DELETE", ours).status == 204);
  BOOST_TEST(house.get("/v1/tools/mine").status == 404);
}

BOOST_AUTO_TEST_CASE(streams_a_batch_in_the_order_of_its_ends) {
  http_house house;
  house.engine.play = [](const run_request& r) -> result<run_result> {
    if (r.command == "broken")
      return error{ec::unavailable, "no backend", {}, {}};
    run_result done;
    done.id = r.id;
    done.status
      = r.command == "false" ? run_status::error : run_status::success;
    return done;
  };
  auto a = house.post(
    "/v1/batches",
    R"({"items":[{"command":"true"},{"command":"false"},{"command":"broken"},)"
    R"({"comand":"typo"}],"max_concurrency":2})");
  BOOST_TEST(a.status == 200);
  BOOST_TEST(a.fields["content-type"] == "application/x-ndjson");
  BOOST_TEST(count(a.body, "\"type\":\"item\"") == 4u);
  BOOST_TEST(count(a.body, "\"type\":\"end\"") == 1u);
  BOOST_TEST(a.body.find("\"items\":4,\"succeeded\":1,\"failed\":3")
             != std::string::npos);
  BOOST_TEST(a.body.find("/items/3/comand") != std::string::npos);
  BOOST_TEST(house.post("/v1/batches", R"({"items":[]})").status == 422);
  std::string many = R"({"items":[)";
  for (int i = 0; i < 1'001; ++i)
    many += i == 0 ? R"({"command":"true"})" : R"(,{"command":"true"})";
  BOOST_TEST(house.post("/v1/batches", many + "]}").status == 422);
}

BOOST_AUTO_TEST_CASE(runs_a_thousand_items_without_deep_recursion) {
  http_house house;
  std::string many = R"({"items":[)";
  for (int i = 0; i < 1'000; ++i)
    many += i == 0 ? R"({"command":"true"})" : R"(,{"command":"true"})";
  auto a = house.post("/v1/batches", many + "]}");
  BOOST_TEST(count(a.body, "\"type\":\"item\"") == 1'000u);
}

BOOST_AUTO_TEST_CASE(asks_for_the_scope_that_fits) {
  net::server_options o;
  o.auth = net::auth_mode::required;
  http_house house{o};
  auto run_only = make_api_key(default_organization(), "r", 1);
  house.engine.add_key(run_only.record);
  auto bearer = "Authorization: Bearer " + run_only.text.reveal() + "\r\n";
  BOOST_TEST(house.get("/v1/tools", bearer).status == 200);
  BOOST_TEST(house.post("/v1/tools", tool_body("f"), bearer).status == 403);
  BOOST_TEST(house.get("/v1/audit", bearer).status == 403);
  BOOST_TEST(house.get("/v1/keys", bearer).status == 403);
  BOOST_TEST(house.get("/docs").status == 200);
}

// H36
BOOST_AUTO_TEST_CASE(binds_cursors_to_list_and_organization) {
  auto a = default_organization();
  auto cursor = net::make_cursor(a, "tools", "name \xc3\xa4");
  BOOST_TEST(net::read_cursor(a, "tools", cursor).value() == "name \xc3\xa4");
  BOOST_TEST(!net::read_cursor(a, "runs", cursor));
  BOOST_TEST(!net::read_cursor(organization_id::make(), "tools", cursor));
  BOOST_TEST(!net::read_cursor(a, "tools", cursor + "00"));
  BOOST_TEST(!net::read_cursor(a, "tools", "x"));
  BOOST_TEST(net::make_cursor(a, "tools", "").empty());
}

BOOST_AUTO_TEST_SUITE_END()
