#include "runtime/engine/api_key.hpp"
#include "tests/support/http/http_server.hpp"

namespace troupe::test {

BOOST_AUTO_TEST_SUITE(maintenance_routes)

namespace {

constexpr auto backups = "/v1/maintenance/backups";
constexpr auto master_key = "/v1/maintenance/master-key";
constexpr auto drain = "/v1/maintenance/drain";
constexpr auto monday = R"({"directory":"/backups/monday"})";

std::string bearer_of(const new_key& key) {
  return "Authorization: Bearer " + key.text.reveal() + "\r\n";
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

} // namespace

BOOST_AUTO_TEST_CASE(back_up_where_the_operator_says) {
  http_house house;
  auto made = house.post(backups, monday);
  BOOST_TEST(made.status == 200);
  BOOST_TEST(made.body
             == R"({"directory":"/backups/monday","files":3,"bytes":4096,)"
                R"("format":1,"master_key_id":"old"})");
  BOOST_TEST(house.keeper.last == "/backups/monday");
  for (auto* body : {R"({"directory":"monday"})", R"({"directory":""})",
                     R"({"directry":"/backups"})", "{}"})
    BOOST_TEST(house.post(backups, body).status == 422, body);
  house.keeper.last.clear();
  auto cut = house.post(backups, R"({"directory":"/backups/a\u0000b"})");
  BOOST_TEST(cut.status == 422);
  BOOST_TEST(cut.body.find("/directory") != std::string::npos, cut.body);
  BOOST_TEST(house.keeper.last.empty());
  house.keeper.next_backup
    = error{ec::conflict, "/backups/monday exists", {}, {}};
  auto refused = house.post(backups, monday);
  BOOST_TEST(refused.status == 409);
  BOOST_TEST(refused.body.find("exists") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(replace_the_master_key) {
  http_house house;
  auto done = house.post(master_key, "");
  BOOST_TEST(done.status == 200);
  BOOST_TEST(done.body == R"({"old_key_id":"old","new_key_id":"new"})");
}

BOOST_AUTO_TEST_CASE(drain_for_as_long_as_the_operator_says) {
  std::vector<std::optional<std::chrono::milliseconds>> asked;
  net::api_options api;
  api.drain = [&](auto time, auto done) {
    asked.push_back(time);
    done(asked.size() - 1);
  };
  http_house house{{}, api};
  auto at_once = house.post(drain, "");
  BOOST_TEST(at_once.status == 200);
  BOOST_TEST(at_once.body == R"({"drained":true,"running":0})");
  auto late = house.post(drain, R"({"timeout_seconds":7})");
  BOOST_TEST(late.body == R"({"drained":false,"running":1})");
  BOOST_TEST_REQUIRE(asked.size() == 2u);
  BOOST_TEST(!asked[0]);
  BOOST_TEST((asked[1] == std::chrono::seconds{7}));
  for (auto* body : {R"({"timeout_seconds":-1})", R"({"timeout":7})"})
    BOOST_TEST(house.post(drain, body).status == 422, body);
}

BOOST_AUTO_TEST_CASE(obey_a_key_for_operators_and_no_lesser_one) {
  net::server_options o;
  o.auth = net::auth_mode::required;
  http_house house{o};
  auto tenant = make_api_key(organization_id::make(), "t", 7);
  auto first = make_api_key(default_organization(), "administrator", 7);
  for (const auto* key : {&tenant, &first})
    house.engine.add_key(key->record);
  BOOST_TEST(house.post(backups, monday).status == 401);
  for (const auto* key : {&tenant, &first}) {
    BOOST_TEST(house.post(backups, monday, bearer_of(*key)).status == 403);
    BOOST_TEST(house.post(master_key, "", bearer_of(*key)).status == 403);
  }
  BOOST_TEST(house.keeper.last.empty());
  auto other = R"({"name":"x","organization_id":")"
    + organization_id::make().str() + R"("})";
  BOOST_TEST(house.post("/v1/keys", other, bearer_of(first)).status == 422);
  auto greater = R"({"name":"x","scopes":["operator"]})";
  auto refused = house.post("/v1/keys", greater, bearer_of(first));
  BOOST_TEST(refused.status == 422);
  BOOST_TEST(contains(refused.body, "/scopes"), refused.body);

  auto highest = make_api_key(organization_id::make(), "operator", 8);
  house.engine.add_key(highest.record);
  BOOST_TEST(house.post(backups, monday, bearer_of(highest)).status == 200);
  BOOST_TEST(house.post(master_key, "", bearer_of(highest)).status == 200);
  auto tenants = R"({"name":"x","scopes":["run"],"organization_id":")"
    + organization_id::make().str() + R"("})";
  BOOST_TEST(house.post("/v1/keys", tenants, bearer_of(highest)).status == 201);
  BOOST_TEST(house.post("/v1/keys", greater, bearer_of(highest)).status == 201);
}

BOOST_AUTO_TEST_CASE(tell_any_key_who_it_is_and_what_it_may) {
  net::server_options o;
  o.auth = net::auth_mode::required;
  http_house house{o};
  auto may = [&](std::uint8_t scopes, std::string_view path) {
    auto key = make_api_key(default_organization(), "k", scopes);
    house.engine.add_key(key.record);
    return house.get(path, bearer_of(key));
  };
  constexpr auto self = "/v1/organizations/self";
  auto of = [](const char* members) { return std::string{members}; };
  auto config = may(2, self);
  BOOST_TEST(config.status == 200);
  BOOST_TEST(contains(config.body,
                      of(R"("can_run":false,"can_config":true,)"
                         R"("can_admin":false,)"
                         R"("can_operate":false)")),
             config.body);
  auto admin = may(4, self);
  BOOST_TEST(contains(admin.body,
                      of(R"("can_run":true,"can_config":true,)"
                         R"("can_admin":true,)"
                         R"("can_operate":false)")),
             admin.body);
  BOOST_TEST(may(4, "/v1/runs").status == 200);
  BOOST_TEST(may(4, "/v1/sandbox-configs").status == 200);
  BOOST_TEST(contains(may(8, self).body, R"("can_operate":true)"));
  BOOST_TEST(house.get(self).status == 401);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::test
