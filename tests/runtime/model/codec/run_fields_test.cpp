// Every field of a run, with a value of its own, through bodies and links.
#include "runtime/model/codec/codec.hpp"
#include "tests/support/engine/sample_fields.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(run_fields_suite)

namespace {

template <class Each>
void with_each_field(Each each) {
  for_each_row(run_fields, [&](const auto& f) {
    BOOST_TEST_CONTEXT(f.name)
    each(f, test::request_with(f));
  });
}

} // namespace

BOOST_AUTO_TEST_CASE(each_row_is_a_member_of_its_own) {
  with_each_field([](const auto& f, const run_request& r) {
    run_request plain;
    plain.kind = f.name == "kind" ? run_kind::tool : r.kind;
    for_each_row(run_fields, [&](const auto& other) {
      BOOST_TEST((other.of(r) == other.of(plain)) == (other.name != f.name));
    });
  });
}

BOOST_AUTO_TEST_CASE(each_crosses_a_link) {
  with_each_field([](const auto& f, const run_request& r) {
    auto text = json::to_text(to_wire(r));
    auto back = from_wire(*json::parse_object(text));
    BOOST_REQUIRE(back.has_value());
    BOOST_TEST((f.of(*back) == f.of(r)));
    BOOST_TEST(json::to_text(to_wire(*back)) == text);
  });
}

BOOST_AUTO_TEST_CASE(each_that_a_client_may_say_is_read_from_a_body) {
  with_each_field([](const auto& f, const run_request& r) {
    auto body = to_wire(r);
    body.erase("kind");
    body.erase("language");
    body.erase("args_json");
    if (f.name == "language")
      body["language"] = to_string(r.lang);
    if (!f.rule.on_link.empty()) { // an object there
      std::string text;
      if constexpr (std::is_same_v<decltype(f.of(r)), const std::string&>)
        text = f.of(r);
      body.erase(f.rule.on_link);
      body[f.name] = *json::parse(text);
    }
    if (!f.rule.is_program) // what is run has to be said
      body[r.kind == run_kind::command    ? "command"
             : r.kind == run_kind::source ? "source"
                                          : "tool_name"]
        = "x";
    auto read = parse_run_request(body);
    if (f.name == "kind")
      return;
    BOOST_REQUIRE_MESSAGE(read.has_value() == f.rule.in_body,
                          json::to_text(body));
    if (read)
      BOOST_TEST((f.of(*read) == f.of(r)));
    else
      BOOST_TEST(read.error().fields.at(0).pointer
                 == "/" + std::string{f.name});
  });
}

BOOST_AUTO_TEST_CASE(each_for_one_kind_is_refused_for_another) {
  with_each_field([](const auto& f, const run_request&) {
    if (!f.rule.only)
      return;
    auto read = parse_run_request({{"code", "1"}, {f.name, "x"}});
    BOOST_REQUIRE(read.has_error());
    // Of two programs, the second is one too many.
    BOOST_TEST(read.error().fields.at(0).pointer
               == (f.rule.is_program ? "/code" : "/" + std::string{f.name}));
  });
}

BOOST_AUTO_TEST_SUITE_END()
