#include "net/telemetry/traced_engine.hpp"
#include "tests/support/engine/fake_engine.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>

using namespace troupe;
using namespace troupe::net;

namespace {

struct fixture {
  test::fake_engine core;
  std::vector<span> spans;
  traced_engine traced{core, 1,
                       [this](span s) { spans.push_back(std::move(s)); }};
  caller who;
  int answers = 0;

  fixture() {
    who.organization = default_organization();
    core.play = [](const run_request& r) -> result<run_result> {
      run_result done;
      done.id = r.id;
      done.status = run_status::success;
      done.reason = exit_reason::exited;
      done.stages = {{"resolve", std::chrono::microseconds{10}},
                     {"run", std::chrono::microseconds{30}}};
      return done;
    };
  }
  run_request tool(std::string name) {
    run_request r;
    r.kind = run_kind::tool;
    r.tool_name = std::move(name);
    return r;
  }
  void submit(run_request r) {
    traced.submit(who, std::move(r), [this](auto) { ++answers; }, {});
  }
};

const std::string parent
  = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

std::string attribute(const span& s, std::string_view key) {
  for (const auto& [k, v] : s.attributes)
    if (k == key)
      return std::holds_alternative<std::string>(v)
        ? std::get<std::string>(v)
        : std::to_string(std::get<std::int64_t>(v));
  return "(none)";
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(traced_engines, fixture)

BOOST_AUTO_TEST_CASE(leave_a_span_per_run_with_its_stages_below) {
  submit(tool("add"));
  BOOST_TEST(answers == 1);
  BOOST_TEST_REQUIRE(spans.size() == 3u);
  const auto& run = spans.back();
  BOOST_TEST(run.name == "execute_tool add");
  BOOST_TEST(attribute(run, "gen_ai.operation.name") == "execute_tool");
  BOOST_TEST(attribute(run, "gen_ai.tool.name") == "add");
  BOOST_TEST(attribute(run, "troupe.exit_reason") == "exited");
  BOOST_TEST(!run.failed);
  BOOST_TEST(spans[0].name == "stage resolve");
  BOOST_TEST((spans[0].parent == run.context.span));
  BOOST_TEST((spans[0].context.trace == run.context.trace));
  BOOST_TEST((spans[1].begin == spans[0].end));
}

BOOST_AUTO_TEST_CASE(name_a_source_after_what_runs_of_it) {
  auto name_of = [&](auto say) {
    run_request r;
    r.kind = run_kind::source;
    r.source
      = "async def first(a):\n  def inner(): pass\n\ndef second(a): pass";
    say(r);
    submit(std::move(r));
    return spans.back().name;
  };
  BOOST_TEST(name_of([](auto&) {}) == "execute_tool second");
  BOOST_TEST(name_of([](auto& r) { r.function = "first"; })
             == "execute_tool first");
  BOOST_TEST(name_of([](auto& r) { r.json_schema = R"({"name":"said"})"; })
             == "execute_tool said");
  BOOST_TEST(name_of([](auto& r) {
               r.lang = language::typescript;
               r.source = "export async function go(a: string) {}\n";
             })
             == "execute_tool go");
  BOOST_TEST(name_of([](auto& r) { r.source = "x = 1"; })
             == "execute_tool source");
}

BOOST_AUTO_TEST_CASE(go_on_with_the_caller_s_trace_into_the_tool) {
  auto r = tool("add");
  r.traceparent = parent;
  submit(std::move(r));
  const auto& run = spans.back();
  auto inside = parse_traceparent(core.last_request().traceparent);
  BOOST_TEST_REQUIRE(!!inside);
  BOOST_TEST(core.last_request().traceparent.substr(0, 36)
             == parent.substr(0, 36));
  BOOST_TEST((inside->span == run.context.span));
  BOOST_TEST(hex_of(run.parent.data(), run.parent.size())
             == "b7ad6b7169203331");
}

BOOST_AUTO_TEST_CASE(leave_nothing_of_a_trace_that_is_not_sampled) {
  auto r = tool("add");
  r.traceparent = parent.substr(0, 53) + "00";
  submit(std::move(r));
  BOOST_TEST(spans.empty());
  BOOST_TEST(answers == 1);
  BOOST_TEST(core.last_request().traceparent.ends_with("-00"));
}

BOOST_AUTO_TEST_CASE(say_how_a_run_failed_without_the_tool_s_words) {
  core.play = [](const run_request& r) -> result<run_result> {
    run_result done;
    done.id = r.id;
    done.status = run_status::error;
    done.reason = exit_reason::exited;
    done.failure.name = "ValueError";
    done.failure.message = "hidden";
    return done;
  };
  submit(tool("add"));
  BOOST_TEST(spans.back().failed);
  BOOST_TEST(attribute(spans.back(), "error.type") == "ValueError");
  BOOST_TEST(to_otlp_json(spans, "i").find("hidden") == std::string::npos);
  core.play = [](const run_request&) -> result<run_result> {
    return error{ec::unavailable, "no backend", {}, {}};
  };
  submit(tool("add"));
  BOOST_TEST(attribute(spans.back(), "error.type") == "unavailable");
}

BOOST_AUTO_TEST_CASE(follow_a_detached_run_to_its_end) {
  core.hold = true;
  traced.submit_detached(who, tool("add"),
                         [this](result<run_record>) { ++answers; });
  BOOST_TEST(answers == 1);
  BOOST_TEST(spans.empty());
  core.release();
  BOOST_TEST(spans.size() == 3u);
}

BOOST_AUTO_TEST_SUITE_END()
