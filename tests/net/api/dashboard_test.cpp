// What /ui answers to a browser; its pages are driven by tests/web.
#include "runtime/engine/api_key.hpp"
#include "tests/support/http/http_server.hpp"

using namespace troupe;
using test::ask;
using test::http_house;

BOOST_AUTO_TEST_SUITE(dashboard)

namespace {

/// The script that the page asks for last, such as /ui/assets/0f../app/main.js.
std::string script_of(const std::string& page) {
  auto at = page.rfind("assets/");
  BOOST_REQUIRE(at != std::string::npos);
  return "/ui/" + page.substr(at, page.find('"', at) - at);
}

} // namespace

BOOST_AUTO_TEST_CASE(answers_one_page_at_every_path) {
  http_house house;
  auto page = house.get("/ui");
  BOOST_TEST(page.status == 200);
  BOOST_TEST(page.fields["content-type"] == "text/html; charset=utf-8");
  BOOST_TEST(page.body.find("@version@") == std::string::npos);
  for (auto path : {"/ui/", "/ui/runs", "/ui/runs/run-1", "/ui/tools/a.js",
                    "/ui/tools/%3Cscript%3E", "/ui/nothing/at/all"})
    BOOST_TEST(house.get(path).body == page.body, path);
  BOOST_TEST(house.post("/ui", "").status == 405);
}

BOOST_AUTO_TEST_CASE(lets_no_foreign_script_style_or_frame_in) {
  http_house house;
  auto page = house.get("/ui");
  const auto policy = page.fields["content-security-policy"];
  for (auto part :
       {"default-src 'none'", "script-src 'self'", "style-src 'self'",
        "frame-ancestors 'none'", "form-action 'none'", "base-uri 'self'",
        "require-trusted-types-for 'script'", "trusted-types 'none'"})
    BOOST_TEST(policy.find(part) != std::string::npos, part);
  BOOST_TEST(policy.find("unsafe") == std::string::npos);
  BOOST_TEST(page.fields["x-content-type-options"] == "nosniff");
  BOOST_TEST(page.fields["referrer-policy"] == "no-referrer");
  BOOST_TEST(page.fields["cross-origin-opener-policy"] == "same-origin");
  // Nothing in the page that the policy would have to allow, or from elsewhere.
  for (auto part :
       {"<style", "<script>", " style=", " onclick", "http://", "https://"})
    BOOST_TEST(page.body.find(part) == std::string::npos, part);
}

BOOST_AUTO_TEST_CASE(shows_what_cells_wrote_in_an_origin_of_its_own) {
  http_house house;
  auto frame = house.get("/ui/frame");
  const auto policy = frame.fields["content-security-policy"];
  BOOST_TEST(policy.starts_with("sandbox allow-scripts; default-src 'none'"));
  for (auto part : {"allow-same-origin", "allow-popups", "allow-top-navigation",
                    "connect-src", "'self';"})
    BOOST_TEST(policy.find(part) == std::string::npos, part);
  BOOST_TEST(policy.ends_with("frame-ancestors 'self'"));
}

BOOST_AUTO_TEST_CASE(lets_browsers_keep_files_for_good_and_pages_never) {
  http_house house;
  auto page = house.get("/ui");
  BOOST_TEST(page.fields["cache-control"] == "no-cache");
  const auto script = script_of(page.body);
  auto file = house.get(script);
  BOOST_TEST(file.status == 200, script);
  BOOST_TEST(file.fields["cache-control"].find("immutable")
             != std::string::npos);
  for (const auto& path : {std::string{"/ui"}, script}) {
    const auto known = house.get(path).fields["etag"];
    auto again = house.get(path, "If-None-Match: " + known + "\r\n");
    BOOST_TEST(again.status == 304, path);
    BOOST_TEST(again.body.empty());
    BOOST_TEST(again.fields["etag"] == known);
    BOOST_TEST(house.get(path, "If-None-Match: W/\"0\"\r\n").status == 200);
  }
}

BOOST_AUTO_TEST_CASE(packs_its_files_for_those_who_take_them_packed) {
  http_house house;
  const auto script = script_of(house.get("/ui").body);
  const auto style
    = script.substr(0, script.find("/app/")) + "/style/parts.css"; // large
  auto packed = house.get(style, "Accept-Encoding: gzip\r\n");
  BOOST_TEST(packed.fields["content-encoding"] == "gzip");
  BOOST_TEST(packed.body.size() < house.get(style).body.size());
}

BOOST_AUTO_TEST_CASE(has_no_files_but_its_own) {
  http_house house;
  const auto script = script_of(house.get("/ui").body);
  const auto version = script.substr(0, script.find('/', 11));
  for (const auto& path :
       {version, version + "/", version + "/index.js",
        version + "/../index.html", version + "/%2e%2e/index.html",
        version + "//etc/passwd", script + "/x", script + "%00",
        std::string{"/ui/assets/0000000000000000/app/main.js"},
        std::string{"/ui/assets/"} + "x"}) {
    auto a = house.get(path);
    BOOST_TEST((a.status == 404 || a.status == 400), path << a.status);
    BOOST_TEST(a.fields["content-type"] == "application/problem+json", path);
  }
}

BOOST_AUTO_TEST_CASE(needs_no_key_because_it_carries_no_data) {
  net::server_options o;
  o.auth = net::auth_mode::required;
  http_house house{o};
  BOOST_TEST(house.get("/ui").status == 200);
  BOOST_TEST(house.get("/ui/frame").status == 200);
  BOOST_TEST(house.get("/v1/organizations/self").status == 401);
}

BOOST_AUTO_TEST_SUITE_END()
