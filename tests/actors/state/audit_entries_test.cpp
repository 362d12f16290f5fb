#include "actors/state/audit_entries.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

namespace {

active_run_ptr a_run(run_request request) {
  request.id = run_id::make();
  caller who;
  who.organization = default_organization();
  who.user = default_user();
  who.request_id = "said \"by\" a\nclient";
  return std::make_shared<active_run>(
    std::move(who), std::make_shared<const run_request>(std::move(request)),
    event_bounds{});
}

json::object line_of(const active_run& run, const prepared_run* prepared) {
  auto line = json::parse_object(audit_of_run(run, prepared));
  BOOST_REQUIRE(line.has_value());
  return std::move(*line);
}

std::string text(const json::object& line, std::string_view name) {
  auto* found = line.if_contains(name);
  return found && found->is_string() ? std::string{found->get_string()} : "";
}

} // namespace

BOOST_AUTO_TEST_SUITE(audit_lines_suite)

BOOST_AUTO_TEST_CASE(is_valid_json_whatever_the_names_say) {
  run_request request;
  request.kind = run_kind::tool;
  request.tool_name = "a\"}, {\"event\": \"forged\\";
  request.agent_id = "\x01\xff";
  auto run = a_run(std::move(request));
  auto line = line_of(*run, nullptr);
  BOOST_TEST(text(line, "event") == "run");
  BOOST_TEST(text(line, "tool_name") == run->request()->tool_name);
  BOOST_TEST(text(line, "request") == "said \"by\" a\nclient");
  BOOST_TEST(text(line, "run") == run->id.str());
  BOOST_TEST(!line.contains("backend"));
}

BOOST_AUTO_TEST_CASE(says_how_a_run_came_out_and_not_what_it_said) {
  run_request request;
  request.kind = run_kind::source;
  request.source = "def f(): return 'hidden'";
  request.env.emplace("TOKEN", secret{"hidden"});
  auto run = a_run(std::move(request));
  run->may_have_started = true;
  run_result result;
  result.status = run_status::success;
  result.reason = exit_reason::exited;
  result.value_json = R"("hidden")";
  result.stdout_text = "hidden";
  result.network.push_back({"example.org:443", false, "not on the list"});
  run->outcome = std::make_shared<const run_result>(std::move(result));
  prepared_run prepared;
  prepared.limits.wall = std::chrono::milliseconds{1'500};
  BOOST_TEST(audit_of_run(*run, &prepared).find("hidden") == std::string::npos);
  auto line = line_of(*run, &prepared);
  BOOST_TEST(line.at("wall_ms").to_number<int>() == 1'500);
  BOOST_TEST(line.at("started").as_bool());
  BOOST_TEST(text(line, "source_sha256").size() == 64u);
  BOOST_TEST(text(line, "status") == "success");
  const auto& decision = line.at("connections").as_array().at(0).as_object();
  BOOST_TEST(text(decision, "target") == "example.org:443");
  BOOST_TEST(!decision.at("allowed").as_bool());
}

BOOST_AUTO_TEST_CASE(stays_short_however_much_the_tool_connects) {
  auto run = a_run({});
  run_result result;
  for (int i = 0; i < 256; ++i)
    result.network.push_back(
      {std::string(253, 'a') + ":443", false, "not on the list"});
  run->outcome = std::make_shared<const run_result>(std::move(result));
  BOOST_TEST(audit_of_run(*run, nullptr).size() < 16u << 10);
  auto line = line_of(*run, nullptr);
  const auto told = line.at("connections").as_array().size();
  BOOST_TEST(told > 0u);
  BOOST_TEST(told + line.at("more_connections").to_number<std::size_t>()
             == 256u);
}

BOOST_AUTO_TEST_SUITE_END()
