// What providers do beside runs, played at their stand-ins as `troupe backend
// test` plays it at the real ones.
#include "net/providers/aio/provider.hpp"
#include "net/providers/daytona/provider.hpp"
#include "net/providers/e2b/provider.hpp"
#include "tests/support/providers/fake_aio.hpp"
#include "tests/support/providers/fake_daytona.hpp"
#include "tests/support/providers/fake_e2b.hpp"
#include "tests/support/providers/self_tested.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using test::fault;

BOOST_AUTO_TEST_SUITE(self_tests)

namespace {

using names = std::vector<std::string>;

test::self_tested at_e2b(test::e2b_stand_in& e2b, bool older_paths = false) {
  net::e2b_options o;
  o.legacy_create = older_paths;
  o.api_key = secret{test::e2b_stand_in::api_key};
  o.api_url = o.sandbox_url = e2b.url();
  return test::self_tests_at([o](auto client) { return make_e2b(client, o); },
                             backend_kind::e2b);
}

test::self_tested at_daytona(test::daytona_stand_in& daytona) {
  net::daytona_options o;
  o.api_key = secret{test::daytona_stand_in::api_key};
  o.api_url = daytona.api_url();
  return test::self_tests_at(
    [o](auto client) { return make_daytona(client, o); },
    backend_kind::daytona);
}

test::self_tested at_aio(test::aio_stand_in& aio) {
  net::aio_options o;
  o.api_key = secret{test::aio_stand_in::api_key};
  o.host = "127.0.0.1";
  o.port = aio.port();
  return test::self_tests_at([o](auto client) { return make_aio(client, o); },
                             backend_kind::aio);
}

void check_failed(const test::self_tested& seen, const std::string& name,
                  std::string_view why) {
  BOOST_TEST(!seen.all_well);
  BOOST_TEST_REQUIRE(seen.failed.contains(name));
  BOOST_TEST(seen.failed.at(name).find(why) != std::string::npos,
             seen.failed.at(name));
}

} // namespace

BOOST_AUTO_TEST_CASE(of_e2b_all_go_well) {
  test::e2b_stand_in e2b;
  auto seen = at_e2b(e2b);
  for (const auto& [name, why] : seen.failed)
    BOOST_ERROR(name << ": " << why);
  BOOST_TEST(seen.all_well);
  BOOST_TEST((seen.fine
              == names{"files", "time limit", "ending a process",
                       "code contexts", "pause and resume"}));
  BOOST_TEST(e2b.boxes().empty());
  BOOST_TEST(seen.leases_left == 0u);
}

BOOST_AUTO_TEST_CASE(of_e2b_work_with_an_envd_of_long_ago) {
  test::e2b_stand_in e2b;
  e2b.speak_as("0.3.0");
  BOOST_TEST(at_e2b(e2b).all_well);
}

BOOST_AUTO_TEST_CASE(of_e2b_work_with_a_control_plane_of_long_ago) {
  test::e2b_stand_in e2b;
  BOOST_TEST(at_e2b(e2b, true).all_well);
  BOOST_TEST(e2b.server().count("POST /sandboxes/ibox1/connect") == 1u);
  for (const auto& call : e2b.server().seen())
    BOOST_TEST(call.find("/v2/") == call.npos, call);
}

BOOST_AUTO_TEST_CASE(tell_which_step_failed_and_end_their_sandbox) {
  for (auto [path, name, why] :
       {std::array{"/filesystem.Filesystem/MakeDir", "files",
                   "create a directory"},
        std::array{"/filesystem.Filesystem/ListDir", "files",
                   "list the directory"},
        std::array{"/filesystem.Filesystem/Move", "files", "move a file"},
        std::array{"/process.Process/SendSignal", "ending a process", "400"},
        std::array{"/contexts", "code contexts", "create a context"},
        std::array{"/sandboxes/ibox1/pause", "pause and resume", "400"}}) {
    test::e2b_stand_in e2b;
    e2b.server().add_fault({.path = path, .code = 400});
    check_failed(at_e2b(e2b), name, why);
    BOOST_TEST(e2b.boxes().empty(), path);
  }
}

BOOST_AUTO_TEST_CASE(of_daytona_all_go_well) {
  test::daytona_stand_in daytona;
  auto seen = at_daytona(daytona);
  for (const auto& [name, why] : seen.failed)
    BOOST_ERROR(name << ": " << why);
  BOOST_TEST(seen.all_well);
  BOOST_TEST((seen.fine
              == names{"files", "search and replace", "short commands", "git",
                       "previews", "labels and times", "stop and start"}));
  BOOST_TEST(daytona.alive() == 0);
  BOOST_TEST(seen.leases_left == 0u);
}

BOOST_AUTO_TEST_CASE(of_daytona_tell_which_step_failed) {
  for (auto [path, name, why] :
       {std::array{"/files/bulk-download", "files", "read a file back"},
        std::array{"/files/replace", "search and replace", "replace a text"},
        std::array{"/process/code-run", "short commands", "run code"},
        std::array{"/git/status", "git", "show a repository"}}) {
    test::daytona_stand_in daytona;
    auto whole = std::string{"/toolbox/box-1"} + path;
    daytona.server().add_fault({.path = whole, .code = 400});
    check_failed(at_daytona(daytona), name, why);
    BOOST_TEST(daytona.alive() == 0, path);
  }
}

BOOST_AUTO_TEST_CASE(of_aio_all_go_well) {
  test::aio_stand_in aio;
  auto seen = at_aio(aio);
  for (const auto& [name, why] : seen.failed)
    BOOST_ERROR(name << ": " << why);
  BOOST_TEST(seen.all_well);
  BOOST_TEST((seen.fine == names{"files", "search and replace", "code"}));
  BOOST_TEST(aio.directories() == 0);
}

BOOST_AUTO_TEST_CASE(of_aio_tell_which_step_failed) {
  // It says no with status 200.
  const std::string no = R"({"success":false,"message":"no","data":null})";
  auto whole = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(no.size())
    + "\r\n\r\n" + no;
  for (auto [path, name, why] :
       {std::array{"/v1/file/upload", "files", "write two files"},
        std::array{"/v1/file/grep", "search and replace", "find a text"},
        std::array{"/v1/nodejs/execute", "code", "run code in Node"}}) {
    test::aio_stand_in aio;
    aio.server().add_fault(
      {.what = fault::kind::raw, .path = path, .bytes = whole});
    check_failed(at_aio(aio), name, why);
  }
}

BOOST_AUTO_TEST_CASE(say_that_no_sandbox_came) {
  test::e2b_stand_in e2b;
  e2b.server().add_fault({.path = "/v2/sandboxes", .code = 403});
  check_failed(at_e2b(e2b), "sandbox", "E2B_API_KEY");
}

BOOST_AUTO_TEST_SUITE_END()
