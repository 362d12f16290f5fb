// All that we ask an AIO container for, beside its published description: each
// method, path, header and member of a body.
#include "net/providers/aio/provider.hpp"
#include "tests/support/providers/aio_requests.hpp"
#include "tests/support/providers/fake_aio.hpp"
#include "tests/support/providers/remote_contract.hpp"
#include "tests/support/providers/self_tested.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <future>

using namespace troupe;
using test::aio_stand_in;
using test::stand_request;

namespace {

net::aio_options options_for(const aio_stand_in& aio, const char* key) {
  net::aio_options o;
  o.host = "127.0.0.1";
  o.port = aio.port();
  o.api_key = secret{key};
  return o;
}

/// Runs of each kind, one that is called off, and the look for what is left.
void run_everything(aio_stand_in& aio, const char* key) {
  auto o = options_for(aio, key);
  test::remote_side side;
  side.open([o](auto client) { return make_aio(client, o); });
  auto code = test::python_run(backend_kind::aio, "def tool():\n  return 1\n");
  code.env.emplace("NAME", secret{"it's \"here\""});
  BOOST_TEST(side.good(code).value_json == "1");
  auto command = test::shell_run(backend_kind::aio, "cat; pwd");
  command.stdin_text = "given";
  side.good(command);
  aio.server().add_fault(
    {.what = test::fault::kind::reset_before, .path = "/v1/bash/output"});
  code.source = "import time\ndef tool():\n  time.sleep(0.2)\n";
  BOOST_TEST(!side.run(code).answer.has_value()); // and is ended
  std::promise<void> looked;
  side.backend->reconcile(true, [&](auto) { looked.set_value(); });
  looked.get_future().wait();
  auto beside = test::self_tests_at(
    [o](auto client) { return make_aio(client, o); }, backend_kind::aio);
  for (const auto& [name, why] : beside.failed)
    BOOST_ERROR(name << ": " << why);
  BOOST_TEST(aio.wait_until_sessions_are_closed());
}

stand_request kept(aio_stand_in& aio, const std::string& call) {
  auto all = aio.server().requests();
  auto found = std::ranges::find(all, call, test::aio_call_of);
  BOOST_REQUIRE((found != all.end()));
  return *found;
}

/// The same, with another body.
stand_request with_body(stand_request r, std::string body) {
  r.headers["content-length"] = std::to_string(body.size());
  r.body = std::move(body);
  return r;
}

} // namespace

BOOST_AUTO_TEST_SUITE(aio_requests)

BOOST_AUTO_TEST_CASE(are_as_its_description_has_them) {
  aio_stand_in aio;
  run_everything(aio, aio_stand_in::api_key);
  for (const auto& odd : aio.odd_calls())
    BOOST_ERROR(odd);
  // All that is described there is made, or would be checked by nothing.
  for (const auto& [call, body] : test::aio_calls())
    BOOST_TEST(aio.known_calls().contains(call), call);
}

BOOST_AUTO_TEST_CASE(carry_a_key_or_a_token) {
  for (auto key : {aio_stand_in::api_key, aio_stand_in::jwt}) {
    aio_stand_in aio;
    run_everything(aio, key);
    BOOST_TEST(aio.odd_calls().empty());
    for (const auto& r : aio.server().requests())
      BOOST_TEST(
        (r.headers.contains("authorization") == (key == aio_stand_in::jwt)));
  }
}

// The comparison itself can fail.
BOOST_AUTO_TEST_CASE(are_told_apart_from_others) {
  aio_stand_in aio;
  run_everything(aio, aio_stand_in::api_key);
  auto exec = kept(aio, "POST /v1/bash/exec");
  BOOST_TEST(test::aio_problems(exec).empty());
  for (auto body : {R"({})", R"({"command":1})", R"({"command":"x","cwd":"/"})",
                    R"({"command":"x","env":{"A":1}})", R"([])", ""})
    BOOST_TEST(!test::aio_problems(with_body(exec, body)).empty(), body);
  auto other = exec;
  other.path = "/v1/bash/execute";
  BOOST_TEST(!test::aio_problems(other).empty());
  other = exec;
  other.method = "PUT";
  BOOST_TEST(!test::aio_problems(other).empty());
  for (auto header : {"x-aio-api-key", "user-agent", "content-type"}) {
    other = exec;
    other.headers.erase(header);
    BOOST_TEST(!test::aio_problems(other).empty(), header);
  }
  other = exec;
  other.headers["x-fern-language"] = "C++";
  BOOST_TEST(!test::aio_problems(other).empty());
  auto close = kept(aio, "POST /v1/bash/sessions/*/close");
  BOOST_TEST(test::aio_problems(close).empty());
  BOOST_TEST(!test::aio_problems(with_body(close, "{}")).empty());
  auto upload = kept(aio, "POST /v1/file/upload");
  BOOST_TEST(test::aio_problems(upload).empty());
  BOOST_TEST(!test::aio_problems(with_body(upload, "a=b")).empty());
}

BOOST_AUTO_TEST_SUITE_END()
