#include "net/compat/e2b/wire/routing.hpp"
#include "net/compat/e2b/wire/tokens.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe::net;
using namespace troupe::net::e2b_facade;

BOOST_AUTO_TEST_SUITE(e2b_routing)

namespace {

using fields = std::vector<std::pair<std::string_view, std::string_view>>;

std::string routed(std::string_view path, fields with = {},
                   std::string_view query = {}) {
  request in;
  in.fields = std::move(with);
  in.query = query;
  auto out = route_of(in, path);
  BOOST_REQUIRE(out.starts_with(base_path));
  return out.substr(base_path.size());
}

} // namespace

BOOST_AUTO_TEST_CASE(calls_about_sandboxes_name_none) {
  BOOST_TEST(routed("/v2/sandboxes") == "/api/v2/sandboxes");
  BOOST_TEST(routed("/") == "/api");
  BOOST_TEST(routed("/sandboxes/abc", {{"x-api-key", "k"}})
             == "/api/sandboxes/abc");
  BOOST_TEST(routed("/files") == "/api/files");
}

BOOST_AUTO_TEST_CASE(fields_name_the_sandbox_and_the_port) {
  BOOST_TEST(routed("/process.Process/Start",
                    {{"E2b-Sandbox-Id", "abc"}, {"E2b-Sandbox-Port", "49983"}})
             == "/data/abc/envd/process.Process/Start");
  BOOST_TEST(routed("/execute", {{"E2b-Sandbox-Id", "abc"}})
             == "/data/abc/code/execute");
  BOOST_TEST(routed("//execute", {{"E2b-Sandbox-Id", "abc"}})
             == "/data/abc/code/execute");
  BOOST_TEST(routed("/contexts/x/restart", {{"E2b-Sandbox-Id", "abc"}})
             == "/data/abc/code/contexts/x/restart");
  BOOST_TEST(routed("/contextsish", {{"E2b-Sandbox-Id", "abc"}})
             == "/data/abc/envd/contextsish");
  BOOST_TEST(
    routed("/a/b",
           {{"E2b-Sandbox-Id", "abc-local"}, {"E2b-Sandbox-Port", "3000"}})
    == "/data/abc/port/3000");
}

BOOST_AUTO_TEST_CASE(a_host_names_them_as_well) {
  BOOST_TEST(routed("/files", {{"host", "49983-abc.sbx.example.test:8443"}})
             == "/data/abc/envd/files");
  BOOST_TEST(routed("/x", {{"host", "3000-abc.sbx.example.test"}})
             == "/data/abc/port/3000");
  BOOST_TEST(routed("/x", {{"host", "0-abc.sbx.example.test"}}) == "/api/x");
  BOOST_TEST(routed("/x", {{"host", "3000-abc"}}) == "/api/x");
}

BOOST_AUTO_TEST_CASE(a_token_without_a_key_names_its_sandbox) {
  const auto token = token_maker{"k"}.token_of("abc").reveal();
  BOOST_TEST(routed("/health", {{"x-access-token", token}})
             == "/data/abc/envd/health");
  BOOST_TEST(routed("/health", {{"x-access-token", "???"}})
             == "/data/-/envd/health");
  BOOST_TEST(
    routed("/sandboxes", {{"x-access-token", token}, {"x-api-key", "k"}})
    == "/api/sandboxes");
}

BOOST_AUTO_TEST_CASE(a_signed_url_names_nothing) {
  BOOST_TEST(routed("/files", {}, "path=a&signature=v1_x")
             == "/data/-/envd/files");
  BOOST_TEST(routed("/files", {}, "signature=v1_x") == "/data/-/envd/files");
  BOOST_TEST(routed("/files", {}, "path=signature") == "/api/files");
}

BOOST_AUTO_TEST_CASE(what_is_no_id_or_no_port_goes_nowhere) {
  for (const char* id : {"..", "../x", "a/b", "ABC", "", "a b", "-"})
    BOOST_TEST(routed("/files", {{"E2b-Sandbox-Id", id}}) == "/malformed", id);
  const std::string longest(65, 'a');
  BOOST_TEST(routed("/files", {{"E2b-Sandbox-Id", longest}}) == "/malformed");
  for (const char* port : {"0", "65536", "-1", "80x", "1e3"})
    BOOST_TEST(
      routed("/files", {{"E2b-Sandbox-Id", "abc"}, {"E2b-Sandbox-Port", port}})
        == "/malformed",
      port);
  BOOST_TEST(routed("/files", {{"E2b-Sandbox-Port", "3000"}}) == "/malformed");
}

BOOST_AUTO_TEST_SUITE_END()
