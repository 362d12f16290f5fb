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
      m.source = m.command.empty() ? "def f(): pass" : "";
      auto back = request_from(m);
      BOOST_REQUIRE(back.has_value());
      const run_request plain;
      BOOST_TEST((f.of(*back) == f.of(plain)) == false);
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
