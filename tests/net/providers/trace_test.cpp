// Whose work it is goes out with every request, and nothing else about us.
#include "net/providers/aio/provider.hpp"
#include "net/providers/daytona/provider.hpp"
#include "net/providers/e2b/provider.hpp"
#include "net/providers/modal/endpoint.hpp"
#include "net/providers/modal/provider.hpp"
#include "net/providers/webhook/webhook.hpp"
#include "runtime/base/trace_context.hpp"
#include "tests/support/providers/fake_aio.hpp"
#include "tests/support/providers/fake_daytona.hpp"
#include "tests/support/providers/fake_e2b.hpp"
#include "tests/support/providers/fake_modal.hpp"
#include "tests/support/providers/remote_contract.hpp"

#include <boost/test/unit_test.hpp>

#include <future>

using namespace troupe;
using namespace troupe::net;
using namespace std::chrono_literals;
using troupe::test::remote_side;

BOOST_AUTO_TEST_SUITE(trace_context_of_requests)

namespace {

const std::string parent
  = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

prepared_run traced(backend_kind where) {
  auto run = test::python_run(where, "def tool():\n  return 1\n");
  run.traceparent = parent;
  run.pip_requirements.clear();
  return run;
}

/// Every request of a run that needs input, a script and an end.
void run_at(remote_side& side, backend_kind where) {
  BOOST_TEST(side.good(traced(where)).value_json == "1");
  auto run = traced(where);
  run.kind = run_kind::command;
  run.lang = language::shell;
  run.command = "cat";
  run.stdin_text = "given";
  BOOST_TEST(side.good(run).stdout_text == "given");
}

void check(const test::stand_in& server) {
  auto all = server.requests();
  BOOST_TEST(all.size() > 2u);
  for (const auto& r : all) {
    BOOST_TEST(r.header("traceparent") == parent, r.method << " " << r.path);
    for (auto other : {"baggage", "tracestate", "x-request-id", "via"})
      BOOST_TEST(!r.headers.contains(other), other);
    for (const auto& [name, value] : r.headers)
      BOOST_TEST(!name.starts_with("x-troupe"), name);
  }
}

} // namespace

BOOST_AUTO_TEST_CASE(goes_to_e2b) {
  test::e2b_stand_in e2b;
  remote_side side;
  e2b_options o;
  o.api_key = secret{test::e2b_stand_in::api_key};
  o.api_url = o.sandbox_url = e2b.url();
  side.open([o](auto client) { return make_e2b(client, o); });
  run_at(side, backend_kind::e2b);
  check(e2b.server());
}

BOOST_AUTO_TEST_CASE(goes_to_daytona) {
  test::daytona_stand_in daytona;
  remote_side side;
  daytona_options o;
  o.api_key = secret{test::daytona_stand_in::api_key};
  o.api_url = daytona.api_url();
  side.open([o](auto client) { return make_daytona(client, o); });
  run_at(side, backend_kind::daytona);
  check(daytona.server());
}

BOOST_AUTO_TEST_CASE(goes_to_aio) {
  test::aio_stand_in aio;
  remote_side side;
  aio_options o;
  o.host = "127.0.0.1";
  o.port = aio.port();
  o.api_key = secret{test::aio_stand_in::api_key};
  side.open([o](auto client) { return make_aio(client, o); });
  run_at(side, backend_kind::aio);
  check(aio.server());
}

BOOST_AUTO_TEST_CASE(goes_to_modal) {
  test::modal_stand_in modal;
  remote_side side;
  auto o = modal.options();
  side.open([o](auto client) { return make_modal(client, o); });
  run_at(side, backend_kind::modal);
  auto calls = modal.calls();
  auto traces = modal.traceparents();
  BOOST_REQUIRE(calls.size() == traces.size());
  BOOST_TEST(calls.size() > 10u);
  for (std::size_t i = 0; i < calls.size(); ++i)
    BOOST_TEST(traces[i] == parent, calls[i]);
}

BOOST_AUTO_TEST_CASE(goes_to_the_webhook) {
  test::stand_in hook{[](const test::stand_request&, test::stand_reply& r) {
    r.json(200, "{}");
  }};
  remote_side side; // for its thread and client
  std::shared_ptr<http_client> client;
  side.open([&](auto c) {
    client = c;
    return make_aio(c, {});
  });
  webhook_options o;
  o.url = hook.url() + "/x";
  auto source = make_webhook(client, o);
  BOOST_REQUIRE(source.has_value());
  for (auto text : {parent, std::string{"nonsense\r\nX-Evil: 1"}}) {
    credential_query who{default_organization(), default_user(), "tool", ""};
    who.traceparent = text;
    std::promise<bool> done;
    (*source)->ask(who, 10s,
                   [&](auto answer) { done.set_value(answer.has_value()); });
    BOOST_TEST(done.get_future().get());
  }
  auto all = hook.requests();
  BOOST_REQUIRE(all.size() == 2u);
  BOOST_TEST(all[0].header("traceparent") == parent);
  auto fresh = parse_traceparent(all[1].header("traceparent"));
  BOOST_REQUIRE(fresh.has_value());
  BOOST_TEST(!fresh->sampled);
  BOOST_TEST(!all[1].headers.contains("x-evil"));
  client.reset();
}

BOOST_AUTO_TEST_CASE(begins_where_there_is_none) {
  test::e2b_stand_in e2b;
  remote_side side;
  e2b_options o;
  o.api_key = secret{test::e2b_stand_in::api_key};
  o.api_url = o.sandbox_url = e2b.url();
  side.open([o](auto client) { return make_e2b(client, o); });
  auto run = traced(backend_kind::e2b);
  run.traceparent.clear();
  side.good(run);
  auto all = e2b.server().requests();
  BOOST_REQUIRE(all.size() > 2u);
  BOOST_TEST(parse_traceparent(all[0].header("traceparent")).has_value());
  for (const auto& r : all) // one run, one trace
    BOOST_TEST(r.header("traceparent") == all[0].header("traceparent"));
}

BOOST_AUTO_TEST_SUITE_END()
