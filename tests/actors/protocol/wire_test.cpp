#include "actors/caf/actor_system.hpp"
#include "actors/protocol/messages.hpp"
#include "tests/support/engine/engine_fixture.hpp"

#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>

using namespace troupe;
using namespace troupe::test;

namespace {

constexpr auto hush = "hush-hush";

execution secretive() {
  auto request = source_run(R"({"password":"hush-hush"})");
  request.id = run_id::make();
  request.source = "# hush-hush";
  request.env["API_KEY"] = secret{hush};
  request.agent_env["OTHER"] = secret{hush};
  execution what;
  what.who = someone();
  what.request = std::make_shared<const run_request>(std::move(request));
  return what;
}

/// What the other side makes of it.
template <class T>
T across(caf::actor_system& system, const T& what) {
  std::vector<char> bytes;
  caf::binary_serializer out{system, bytes};
  BOOST_REQUIRE(!out(what));
  T read;
  caf::binary_deserializer in{system, bytes};
  BOOST_REQUIRE(!in(read));
  return read;
}

struct system_fixture {
  system_config config{1};
  caf::actor_system system{config};
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(wire_suite, system_fixture)

BOOST_AUTO_TEST_CASE(prints_no_source_no_argument_and_no_secret) {
  const auto what = secretive();
  for (const auto& text : {caf::deep_to_string(what),
                           caf::to_string(caf::make_message(run_v, what)),
                           caf::deep_to_string(std::vector<execution>{what})}) {
    BOOST_TEST(text.find(hush) == std::string::npos, text);
    BOOST_TEST(text.find(what.request->id.str()) != std::string::npos, text);
  }
  run_answer answer;
  auto result = std::make_shared<run_result>();
  result->id = what.request->id;
  result->value_json = result->stdout_text = hush;
  answer.result = result;
  BOOST_TEST(caf::deep_to_string(answer).find(hush) == std::string::npos);
}

BOOST_AUTO_TEST_CASE(carries_secrets_and_later_fields_to_the_other_side) {
  auto what = secretive();
  what.ext["of a later version"] = "kept";
  const auto read = across(system, what);
  BOOST_TEST(read.request->env.at("API_KEY").reveal() == hush);
  BOOST_TEST(read.request->source == what.request->source);
  BOOST_TEST((read.ext == what.ext));
}

BOOST_AUTO_TEST_CASE(
  keeps_a_message_that_it_cannot_read_so_that_it_is_answered) {
  auto what = secretive();
  auto request = *what.request;
  request.args_json = "{";
  what.request = std::make_shared<const run_request>(std::move(request));
  const auto read = across(system, what);
  BOOST_TEST(!read.request);
  BOOST_REQUIRE(read.unreadable);
  BOOST_TEST((read.unreadable->code == ec::invalid_request));
  BOOST_TEST(read.who.organization.str() == what.who.organization.str());
}

BOOST_AUTO_TEST_CASE(says_how_a_run_ended_whose_answer_no_link_takes) {
  auto result = std::make_shared<run_result>();
  result->id = run_id::make();
  result->status = run_status::success;
  result->value_json = '"' + std::string(largest_result_text, 'a') + '"';
  run_answer answer;
  answer.result = result;
  const auto read = across(system, answer);
  BOOST_REQUIRE(read.result);
  BOOST_TEST((read.result->id == result->id));
  BOOST_TEST((read.result->status == run_status::error));
  BOOST_TEST((read.result->reason == exit_reason::output_limit));
  BOOST_TEST(read.result->detail.find("the limit of a link")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(refuses_what_no_troupe_has_written) {
  run_status_message note;
  note.id = "run-x";
  std::vector<char> bytes;
  caf::binary_serializer out{system, bytes};
  BOOST_REQUIRE(!out(note));
  for (std::size_t cut = 0; cut < bytes.size(); cut += 3) {
    run_status_message read;
    caf::binary_deserializer in{system, bytes.data(), cut};
    BOOST_TEST(!!in(read));
  }
}

BOOST_AUTO_TEST_SUITE_END()
