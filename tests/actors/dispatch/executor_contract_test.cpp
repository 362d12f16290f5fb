#include "tests/support/engine/backend_contract.hpp"
#include "tests/support/engine/scripted_backend.hpp"

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(executor_contract_suite)

namespace {

/// What the sources of the contract mean to a backend that reads no Python.
run_outcome play(const prepared_run& run, run_observer& o) {
  auto r = scripted_backend::answer_for(run);
  auto args = *json::parse_object(run.args_json);
  r.value_json = json::to_text(args.at("x"));
  o.started();
  if (run.source.find("raise") != std::string::npos) {
    r.status = run_status::error;
    r.failure = {"ValueError", "no", "", "ValueError: no"};
  }
  if (run.source.find("print") != std::string::npos) {
    o.output(output_stream::out, "words\n");
    r.stdout_text = "words\n";
  }
  return {std::move(r), true};
}

} // namespace

BOOST_AUTO_TEST_CASE(a_backend_in_memory_keeps_the_contract) {
  contract_subject subject;
  subject.make = [] {
    auto b = std::make_shared<scripted_backend>();
    b->set_script(play);
    b->hold_when([](const prepared_run& run) {
      return run.source.find("while True") != std::string::npos;
    });
    return b;
  };
  check_contract(subject);
}

BOOST_AUTO_TEST_SUITE_END()
