#include "runtime/model/codec/codec.hpp"
#include "runtime/model/members.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(run_results)

namespace {

run_result full_result() {
  run_result r;
  r.id = run_id::make();
  r.status = run_status::success;
  r.reason = exit_reason::signaled;
  r.exit_code = -3;
  r.signal = 9;
  r.detail = "why \"so\"";
  r.value_json = R"({"big":123456789012345678901234567890,"x":[1.50]})";
  r.value_is_text_fallback = true;
  r.value_encoding = "base64";
  r.value_truncated = true;
  r.value_size = 11;
  r.files = {{"a/b.csv", "text/csv", 3, "1,2", false},
             {"c.bin", "application/octet-stream", 99, "", true}};
  r.displays = {{{"image/png", "\x89PNG"}, {"text/html", "<b>"}}};
  r.failure = {"ValueError", "bad", "Traceback\n ...", "Error executing"};
  r.stdout_text = "out\n\xc3\xa9";
  r.stderr_text = std::string("e\0rr", 4);
  r.stdout_truncated = true;
  r.stderr_truncated = true;
  r.agent_state_json = R"({"m":1})";
  r.agent_state_diff = R"([{"op":"test"}])";
  r.usage
    = {std::chrono::microseconds{5}, std::chrono::microseconds{6}, 7, 8, 9};
  r.stages = {{"queue", std::chrono::microseconds{10}}};
  r.backend = backend_kind::e2b;
  r.fingerprint = "123";
  r.package_set = "abc";
  r.trail = {{backend_kind::modal, "down"}};
  r.isolation = {isolation_level::standard,
                 {{"seccomp", layer_state::enforced, ""},
                  {"cgroup", layer_state::degraded, "v1"}}};
  r.network = {{"1.2.3.4:80", false, "policy"}};
  r.notes = {"degraded"};
  return r;
}

/// As a client sees it.
json::object shown(run_status status, exit_reason reason, int exit_code = 0,
                   int signal = 0) {
  run_result r;
  r.id = run_id::make();
  r.status = status;
  r.reason = reason;
  r.exit_code = exit_code;
  r.signal = signal;
  return json::parse_object(to_json_text(r)).value();
}

void check_equal(const run_result& a, const run_result& b) {
  BOOST_TEST((a.id == b.id && a.status == b.status && a.reason == b.reason
              && a.exit_code == b.exit_code && a.signal == b.signal
              && a.detail == b.detail));
  BOOST_TEST((a.value_is_text_fallback == b.value_is_text_fallback
              && a.value_encoding == b.value_encoding
              && a.value_truncated == b.value_truncated
              && a.value_size == b.value_size && a.files == b.files
              && a.displays == b.displays && a.failure == b.failure));
  BOOST_TEST((a.stdout_text == b.stdout_text && a.stderr_text == b.stderr_text
              && a.stdout_truncated == b.stdout_truncated
              && a.stderr_truncated == b.stderr_truncated));
  BOOST_TEST((a.agent_state_json == b.agent_state_json
              && a.agent_state_diff == b.agent_state_diff));
  BOOST_TEST((a.usage == b.usage && a.stages == b.stages
              && a.backend == b.backend && a.fingerprint == b.fingerprint
              && a.package_set == b.package_set && a.trail == b.trail));
  BOOST_TEST((a.isolation == b.isolation && a.network == b.network
              && a.notes == b.notes));
}

} // namespace

BOOST_AUTO_TEST_CASE(say_in_one_word_how_it_went) {
  const std::pair<exit_reason, std::string_view> rows[] = {
    {exit_reason::exited, "error"},
    {exit_reason::raised, "error"},
    {exit_reason::signaled, "error"},
    {exit_reason::wall_timeout, "timeout"},
    {exit_reason::cpu_timeout, "timeout"},
    {exit_reason::memory_limit, "limit"},
    {exit_reason::output_limit, "limit"},
    {exit_reason::pids_limit, "limit"},
    {exit_reason::disk_limit, "limit"},
    {exit_reason::syscall_blocked, "error"},
    {exit_reason::policy_denied, "error"},
    {exit_reason::cancelled, "cancelled"},
    {exit_reason::start_failed, "error"},
    {exit_reason::lost, "lost"},
  };
  BOOST_TEST(std::size(rows) == exit_reasons);
  for (const auto& [reason, word] : rows) {
    const auto o = shown(run_status::error, reason);
    BOOST_TEST(o.at("status").as_string() == word, to_string(reason));
    BOOST_TEST(o.at("reason").as_string() == to_string(reason));
    // Nobody takes a failure for a success by its code.
    BOOST_TEST(o.at("exit_code").is_null(), to_string(reason));
    const auto read = parse_run_result(o);
    BOOST_TEST_REQUIRE(!!read);
    BOOST_TEST((read->status == run_status::error && read->reason == reason));
  }
  const auto fine = shown(run_status::success, exit_reason::exited);
  BOOST_TEST(fine.at("status").as_string() == "success");
  BOOST_TEST(fine.at("exit_code") == 0);
  BOOST_TEST(fine.at("signal").is_null());
  BOOST_TEST(shown(run_status::error, exit_reason::exited, 3).at("exit_code")
             == 3);
  BOOST_TEST(shown(run_status::error, exit_reason::signaled, 0, 11).at("signal")
             == 11);
}

/// Another member? Then it is written, read, and stands in the two above.
static_assert(member_count<run_result>() == 30);

BOOST_AUTO_TEST_CASE(crosses_the_wire_without_loss) {
  auto r = full_result();
  auto text = json::to_text(to_wire(r));
  auto back = parse_run_result(*json::parse_object(text));
  BOOST_REQUIRE(back.has_value());
  check_equal(*back, r);
  BOOST_TEST(back->value_json == r.value_json);
  run_result plain;
  back = parse_run_result(to_wire(plain));
  BOOST_REQUIRE(back.has_value());
  check_equal(*back, plain);
}

BOOST_AUTO_TEST_CASE(is_kept_without_loss_and_without_what_says_nothing) {
  auto enforced = full_result();
  enforced.isolation.layers = {{"seccomp", layer_state::enforced, ""},
                               {"landlock", layer_state::enforced, ""}};
  for (const auto& r : {full_result(), enforced, run_result{}}) {
    auto text = to_stored_text(r);
    BOOST_TEST(text.size() < to_wire_text(r).size());
    auto back = parse_run_result(*json::parse_object(text));
    BOOST_REQUIRE(back.has_value());
    check_equal(*back, r);
    BOOST_TEST(back->value_json == r.value_json);
  }
  BOOST_TEST(
    to_stored_text(enforced).find(R"("isolation":{"level":"standard",)"
                                  R"("enforced":["seccomp","landlock"]})")
    != std::string::npos);
}

BOOST_AUTO_TEST_CASE(hands_the_value_to_clients_as_it_is) {
  auto r = full_result();
  auto text = to_json_text(r);
  BOOST_TEST(json::check(text).has_value());
  BOOST_TEST(text.find(R"("value":{"big":123456789012345678901234567890,)"
                       R"("x":[1.50]})")
             != std::string::npos);
  r.value_json = R"([1,"two",null])";
  r.exit_code = 0; // of what a signal ended there is none
  auto back = parse_run_result(*json::parse_object(to_json_text(r)));
  BOOST_REQUIRE(back.has_value());
  check_equal(*back, r);
  BOOST_TEST(back->value_json == r.value_json);
}

BOOST_AUTO_TEST_CASE(stays_valid_when_texts_are_not_utf8) {
  run_result r;
  r.stdout_text = "\xff\xfe";
  r.detail = "\x80";
  r.notes = {"\xed\xa0\x80"};
  BOOST_TEST(json::check(to_json_text(r)).has_value());
}

BOOST_AUTO_TEST_CASE(refuses_results_that_contradict_their_types) {
  for (auto text : {
         R"({})",
         R"({"reason":"exploded"})",
         R"({"reason":"exited","status":"fine"})",
         R"({"reason":"exited","exit_code":"0"})",
         R"({"reason":"exited","value_json":"{"})",
         R"({"reason":"exited","usage":{"wall_us":-1}})",
         R"({"reason":"exited","stages":[5]})",
         R"({"reason":"exited","isolation":{"level":"x"}})",
         R"({"reason":"exited","failover":[{"backend":"x"}]})",
         R"({"reason":"exited","network":[{}]})",
         R"({"reason":"exited","notes":[1]})",
       })
    BOOST_TEST_CONTEXT(text)
  BOOST_TEST(parse_run_result(*json::parse_object(text)).has_error());
}

BOOST_AUTO_TEST_SUITE_END()
