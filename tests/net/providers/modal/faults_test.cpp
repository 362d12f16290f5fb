// The faults that every provider must survive, as they are on HTTP/2: B43, B45
// to B49 of Modal.
#include "net/providers/modal/provider.hpp"
#include "tests/net/providers/fault_server.hpp"
#include "tests/support/providers/fake_modal.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

struct modal_house : fault_house {
  modal_stand_in modal;

  std::unique_ptr<place> at_modal() {
    auto p = std::make_unique<place>();
    p->name = "Modal";
    p->where = backend_kind::modal;
    p->alive = [this] { return modal.alive(); };
    p->key = modal_stand_in::token_secret;
    p->side.open(
      [o = modal.options()](auto client) { return make_modal(client, o); },
      bounds());
    return p;
  }

  /// In the call that makes a sandbox, and in each that is made in it.
  static constexpr std::array methods{"AppGetOrCreate",    "ImageJoinStreaming",
                                      "SandboxCreateV2",   "TaskExecStart",
                                      "TaskExecStdioRead", "TaskExecStdinWrite",
                                      "TaskExecWait"};
};

bool is_success(const run_outcome& outcome) {
  return outcome.answer && outcome.answer->value_json == "1";
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(modal_faults, modal_house)

// What is safe to repeat is repeated, on another connection if need be.
BOOST_AUTO_TEST_CASE(are_got_over_where_nothing_was_lost) {
  auto p = at_modal();
  for (auto what :
       {grpc_fault::refused, grpc_fault::going_away, grpc_fault::gone_away,
        grpc_fault::trailers_only, grpc_fault::bad_gateway, grpc_fault::reset})
    for (auto method : methods)
      BOOST_TEST_CONTEXT(static_cast<int>(what) << " in " << method) {
        modal.server().add_fault(method, what);
        BOOST_TEST(is_success(survive(*p)));
      }
}

BOOST_AUTO_TEST_CASE(hold_no_run_beyond_its_deadline) {
  for (auto method :
       {"SandboxCreateV2", "TaskExecStart", "TaskExecStdioRead"}) {
    auto p = at_modal();
    modal.server().add_fault(method, grpc_fault::silent);
    BOOST_TEST_CONTEXT(method) {
      survive(*p, 1'500ms);
    }
  }
}

BOOST_AUTO_TEST_CASE(in_an_answer_are_no_answer) {
  for (auto what :
       {grpc_fault::garbage, grpc_fault::web_page, grpc_fault::redirect,
        grpc_fault::compressed, grpc_fault::too_large, grpc_fault::cut_off}) {
    auto p = at_modal();
    for (auto method : methods)
      BOOST_TEST_CONTEXT(static_cast<int>(what) << " in " << method) {
        modal.server().add_fault(method, what);
        survive(*p, 2s);
      }
  }
}

BOOST_AUTO_TEST_CASE(of_a_message_that_is_too_large_are_not_asked_for_again) {
  auto p = at_modal();
  modal.server().add_fault("SandboxCreateV2", grpc_fault::too_large);
  auto outcome = survive(*p);
  BOOST_REQUIRE(!outcome.answer.has_value());
  BOOST_TEST(contains(outcome.answer.error().text, "a message of 209715200"));
  auto calls = modal.calls();
  BOOST_TEST(std::ranges::count(calls, "SandboxCreateV2") == 0);
}

BOOST_AUTO_TEST_SUITE_END()
