// Every field of a run, with a value of its own, as the C++ interface has it.
#include "app/embed/public_conversions.hpp"
#include "runtime/engine/request_for.hpp"
#include "tests/support/engine/sample_fields.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(public_conversions_suite)

namespace {

/// Calls `each` for the fields that a message has.
template <class Each>
void with_each_field(Each each) {
  for_each_row(run_fields, [&](const auto& f) {
    if constexpr (member_of<decltype(f.in_message), api::message>) {
      auto r = test::request_with(f);
      r.id = run_id::make();
      if (!f.rule.only) // what is run has to be said, a source else
        r.kind = run_kind::source;
      if (f.rule.only == run_kind::command)
        r.command = "true";
      if (f.rule.only == run_kind::tool && !r.tool)
        r.tool_name = "adder";
      BOOST_TEST_CONTEXT(f.name)
      each(f, r);
    }
  });
}

} // namespace

BOOST_AUTO_TEST_CASE(a_message_says_each_field_and_is_read_back) {
  with_each_field([](const auto& f, const run_request& r) {
    auto m = message_from(r);
    if (f.name == "organization_id") { // beside the request, see caller_for
      BOOST_TEST(m.organization == r.organization.str());
      return;
    }
    auto back = request_from(m);
    BOOST_REQUIRE(back.has_value());
    BOOST_TEST((f.of(*back) == f.of(r)));
    BOOST_TEST((back->kind == r.kind));
  });
}

BOOST_AUTO_TEST_CASE(a_message_names_a_tool_by_id_or_by_name) {
  run_request r;
  r.tool_name = "adder";
  auto back = request_from(message_from(r));
  BOOST_REQUIRE(back.has_value());
  BOOST_TEST((back->kind == run_kind::tool && !back->tool));
  BOOST_TEST(back->tool_name == "adder");
}

/// An embedder's carrier gets a message of the run that it is to carry out.
BOOST_AUTO_TEST_CASE(a_carrier_is_told_each_field_of_a_prepared_run) {
  with_each_field([](const auto& f, const run_request& r) {
    if constexpr (member_of<decltype(f.of), prepared_run>) {
      auto m = message_from(request_for(test::prepared_with(f, r)));
      if (f.name == "organization_id") {
        BOOST_TEST(m.organization == r.organization.str());
        return;
      }
      if (m.command.empty()) // what is run has to be said
        (r.kind == run_kind::command ? m.command : m.source) = "true";
      auto back = request_from(m);
      BOOST_REQUIRE(back.has_value());
      const run_request plain;
      BOOST_TEST((f.of(*back) == f.of(plain)) == false);
    }
  });
}

/// Another member? Then a result may have to tell it, and take it from a
/// carrier: answer_from, result_from and the case below.
static_assert(member_count<api::answer>() == 24);

BOOST_AUTO_TEST_CASE(a_result_keeps_what_a_carrier_answers) {
  api::answer a;
  a.succeeded = true;
  a.reason = "signaled";
  a.detail = "detail";
  a.value = "[1]";
  a.stdout_text = "out";
  a.stderr_text = "err";
  a.wall = std::chrono::microseconds{1};
  a.cpu = std::chrono::microseconds{2};
  a.peak_memory_bytes = 3;
  a.exit_code = 4;
  a.signal = 5;
  a.value_truncated = a.stdout_truncated = a.stderr_truncated = true;
  a.agent_state = "{}";
  a.notes = {"note"};
  a.value_encoding = "base64";
  a.files = {{"a.csv", "text/csv", "1,2"}};
  auto id = run_id::make();
  auto back = answer_from(result_from(a, id));
  BOOST_TEST(back.id == id.str());
  BOOST_TEST(back.succeeded);
  BOOST_TEST(back.reason == a.reason);
  BOOST_TEST(back.detail == a.detail);
  BOOST_TEST(back.value == a.value);
  BOOST_TEST(back.stdout_text == a.stdout_text);
  BOOST_TEST(back.stderr_text == a.stderr_text);
  BOOST_TEST((back.wall == a.wall && back.cpu == a.cpu));
  BOOST_TEST(back.peak_memory_bytes == a.peak_memory_bytes);
  BOOST_TEST(!back.exit_code.has_value()); // a signal ended it
  BOOST_TEST(back.signal == a.signal);
  BOOST_TEST(
    (back.value_truncated && back.stdout_truncated && back.stderr_truncated));
  BOOST_TEST(back.agent_state == a.agent_state);
  a.reason = "exited";
  BOOST_TEST((answer_from(result_from(a, id)).exit_code == 4));
  BOOST_TEST((back.notes == a.notes));
  BOOST_TEST(back.value_encoding == a.value_encoding);
  BOOST_REQUIRE(back.files.size() == 1u);
  BOOST_TEST(back.files[0].name == "a.csv");
  BOOST_TEST(back.files[0].media_type == "text/csv");
  BOOST_TEST(back.files[0].content == "1,2");
}

BOOST_AUTO_TEST_SUITE_END()
