// Who may look at a port of a sandbox, by path and by host name.
#include "runtime/engine/api_key.hpp"
#include "tests/net/previews/preview_house.hpp"

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(access_to_previews)

// -- who may ------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(take_a_key_or_a_token_of_the_very_port) {
  auto told = std::make_shared<heard>();
  preview_house h{says(told, ok("in")), {}, true};
  auto key = make_api_key(default_organization(), "mine", 1);
  h.engine.add_key(key.record);
  auto foreign = make_api_key(organization_id::make(), "other", 7);
  h.engine.add_key(foreign.record);
  const auto bearer = [](const new_key& k) {
    return "Authorization: Bearer " + k.text.reveal() + "\r\n";
  };
  const auto proxy = h.path("/proxy/");
  const auto status = [&](const std::string& path, const std::string& fields) {
    return h.get(path, fields).status;
  };
  BOOST_TEST(status(proxy, "") == 401);
  BOOST_TEST(status(proxy, bearer(key)) == 200);
  BOOST_TEST(!has(told->last(), "troupe_")); // the key stays here
  BOOST_TEST(status(proxy, bearer(foreign)) == 404);
  const auto token = h.token(bearer(key));
  const auto field = "X-Troupe-Port-Token: " + token + "\r\n";
  BOOST_TEST(status(proxy, field) == 200);
  BOOST_TEST(!has(told->last(), token));
  BOOST_TEST(status(proxy + "?a=1&troupe_token=" + token, "") == 200);
  BOOST_TEST(told->last().starts_with("GET /?a=1 HTTP/1.1\r\n"));
  // Of another port, of another sandbox, wrong, empty.
  const auto other = "/v1/sandboxes/" + h.id + "/ports/3001/proxy/";
  BOOST_TEST(status(other, field) == 403);
  BOOST_TEST(
    status(proxy, "X-Troupe-Port-Token: " + std::string(64, '0') + "\r\n")
    == 403);
  BOOST_TEST(status(proxy, "X-Troupe-Port-Token: x\r\n") == 403);
  // A token opens nothing else of the API.
  BOOST_TEST(status("/v1/sandboxes", field) == 401);
  BOOST_TEST(test::ask(h.port(), "DELETE", h.path(""), {}, field).status
             == 401);
  auto closed = test::ask(h.port(), "DELETE", h.path(""), {}, bearer(key));
  BOOST_TEST(closed.status == 204);
  BOOST_TEST(status(proxy, field) == 403);
}

BOOST_AUTO_TEST_CASE(are_open_to_all_only_where_that_is_granted) {
  auto told = std::make_shared<heard>();
  preview_house closed{says(told, ok("in"))};
  BOOST_TEST(closed.post(closed.path(""), R"({"public":true})").status == 422);
  BOOST_TEST(closed.page("/").status == 403);
  net::preview_options granted;
  granted.public_ports = true;
  preview_house open{says(told, ok("in")), granted};
  auto a = open.post(open.path(""), R"({"public":true})");
  BOOST_TEST(a.status == 201);
  BOOST_TEST(
    !has(std::string{json::parse_object(a.body)->at("url").as_string()},
         "troupe_token"));
  BOOST_TEST(open.page("/").body == "in");
  BOOST_TEST(test::ask(open.port(), "DELETE", open.path("")).status == 204);
  BOOST_TEST(open.page("/").status == 403);
}

// -- host names ---------------------------------------------------------------

BOOST_AUTO_TEST_CASE(have_a_host_name_of_their_own) {
  auto told = std::make_shared<heard>();
  preview_house h{
    says(told, ok("page", "Set-Cookie: a=b; Domain=localhost\r\n"))};
  const auto url = std::string{h.opened().at("url").as_string()};
  const auto base = "http://" + h.host() + ":" + std::to_string(h.pages.port())
    + "/?troupe_token=";
  BOOST_TEST_REQUIRE(url.starts_with(base), url);
  const auto token = url.substr(base.size());
  // The token goes from the address into a cookie of this host.
  auto first = h.page("//deep?x=1&troupe_token=" + token);
  BOOST_TEST(first.status == 302);
  BOOST_TEST(first.fields["location"] == "/deep?x=1");
  BOOST_TEST(first.fields["set-cookie"]
             == "troupe_port=" + token + "; Path=/; HttpOnly; SameSite=Lax");
  BOOST_TEST(told->count() == 0u);
  auto second = h.page("/%2e/a//b?x=%00",
                       "Cookie: a=b; troupe_port=" + token
                         + "\r\nOrigin: http://other\r\n");
  BOOST_TEST(second.status == 200);
  BOOST_TEST(second.body == "page");
  BOOST_TEST(second.fields["set-cookie"] == "a=b");
  const auto said = told->last();
  BOOST_TEST(said.starts_with("GET /%2e/a//b?x=%00 HTTP/1.1\r\n"), said);
  BOOST_TEST(has(said, "host: " + h.host() + "\r\n"));
  BOOST_TEST(has(said, "Cookie: a=b\r\n"));
  BOOST_TEST(!has(said, token));
  BOOST_TEST(h.page("/?troupe_token=" + std::string(64, '0')).status == 403);
  BOOST_TEST(h.page("/").status == 403);
}

BOOST_AUTO_TEST_CASE(take_no_name_that_is_not_theirs) {
  auto told = std::make_shared<heard>();
  preview_house h{says(told, ok("page"))};
  const auto cookie = "Cookie: troupe_port=" + h.token() + "\r\n";
  BOOST_TEST(h.page("/", cookie).status == 200);
  BOOST_TEST(h.page("/", cookie, "3000-" + h.id + ".LOCALHOST:80").status
             == 200);
  for (const auto& name :
       {std::string{"localhost"}, std::string{"evil.example"},
        "3000-" + h.id + ".localhost.evil.example", "3000-" + h.id,
        "3000-" + h.id + "-localhost", h.id + ".localhost",
        "x.3000-" + h.id + ".localhost", "0-" + h.id + ".localhost",
        "03000-" + h.id + ".localhost", std::string{"3000-short.localhost"}})
    BOOST_TEST(h.page("/", cookie, name).status == 421, name);
  // Another port is another host, with tokens of its own.
  BOOST_TEST(h.page("/", cookie, "3001-" + h.id + ".localhost").status == 403);
  // Nothing of the API is here, nor what operators look at.
  for (const char* target : {"/v1/sandboxes", "/metrics", "/livez"})
    BOOST_TEST(h.page(target, cookie).body == "page", target);
}

BOOST_AUTO_TEST_CASE(keep_a_key_of_ours_and_pass_other_credentials_on) {
  auto told = std::make_shared<heard>();
  preview_house h{says(told, ok("page"))};
  auto key = make_api_key(default_organization(), "mine", 1);
  h.engine.add_key(key.record);
  BOOST_TEST(
    h.page("/", "Authorization: Bearer " + key.text.reveal() + "\r\n").status
    == 200);
  BOOST_TEST(!has(told->last(), "uthorization"));
  const auto cookie = "Cookie: troupe_port=" + h.token() + "\r\n";
  BOOST_TEST(h.page("/", cookie + "Authorization: Bearer theirs\r\n").status
             == 200);
  BOOST_TEST(has(told->last(), "Authorization: Bearer theirs\r\n"));
  auto config = make_api_key(default_organization(), "config", 2);
  h.engine.add_key(config.record);
  BOOST_TEST(
    h.page("/", "Authorization: Bearer " + config.text.reveal() + "\r\n").status
    == 403);
}

BOOST_AUTO_TEST_SUITE_END()
