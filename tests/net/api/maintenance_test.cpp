#include "runtime/engine/api_key.hpp"
#include "tests/support/http/http_server.hpp"

namespace troupe::test {

BOOST_AUTO_TEST_SUITE(maintenance_routes)

namespace {

constexpr auto backups = "/v1/maintenance/backups";
constexpr auto master_key = "/v1/maintenance/master-key";
constexpr auto monday = R"({"directory":"/backups/monday"})";

std::string bearer_of(const new_key& key) {
  return "Authorization: Bearer " + key.text.reveal() + "\r\n";
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

BOOST_AUTO_TEST_CASE(serve_the_operator_and_nobody_with_a_key) {
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
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::test
