// B50 of Modal, whose client is another than everybody's: services that cannot
// prove who they are, handshakes that come to nothing, and no HTTP/2.
#include "net/providers/modal/provider.hpp"
#include "tests/net/providers/fault_server.hpp"
#include "tests/support/http/tls_faces.hpp"
#include "tests/support/providers/fake_modal.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

struct modal_over_tls {
  log_catcher logged;
  tls_faces faces;
  modal_stand_in modal{&faces};
  remote_side side;

  modal_over_tls() {
    auto o = modal.options();
    o.ca_file = faces.authority();
    side.open([o](auto client) { return make_modal(client, o); },
              fault_house::bounds());
  }
  static prepared_run run_for(std::chrono::milliseconds limit) {
    auto r = python_run(backend_kind::modal, "def tool():\n  return 1\n");
    r.env.emplace("TOKEN", secret{value});
    r.deadline = steady::now() + limit;
    return r;
  }
  bool is_clean() const {
    return modal.alive() == 0 && side.leases->list(backend_kind::modal).empty();
  }
  void reconcile() {
    auto done = std::make_shared<std::promise<void>>();
    side.backend->reconcile(false, [done](auto) { done->set_value(); });
    done->get_future().wait();
  }
  /// In time, with that reason, and nothing that is a secret in it.
  void check_failed(const run_outcome& outcome, std::string_view why) {
    BOOST_REQUIRE(!outcome.answer.has_value());
    BOOST_TEST((outcome.answer.error().code == ec::unavailable
                || outcome.answer.error().code == ec::timeout));
    auto said = outcome.answer.error().text + log_catcher::all();
    BOOST_TEST(contains(outcome.answer.error().text, why), said);
    for (std::string_view each :
         {std::string_view{value},
          std::string_view{modal_stand_in::token_secret}})
      BOOST_TEST(!contains(said, each), said);
  }
};

constexpr std::pair<tls_face, std::string_view> wrong[]{
  {tls_face::expired, "was refused: certificate has expired"},
  {tls_face::of_another_name, "was refused: IP address mismatch"},
  {tls_face::signed_by_itself, "was refused: self-signed certificate"},
  {tls_face::signed_by_a_stranger, "was refused: unable to get local issuer"},
  {tls_face::too_old, "alert protocol version"},
  {tls_face::cut, "connect to 127.0.0.1:"},
  {tls_face::without_http2, "does not speak HTTP/2"},
  {tls_face::of_another_protocol, "127.0.0.1:"}, // OpenSSL may be first to see
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(modal_tls, modal_over_tls)

BOOST_AUTO_TEST_CASE(ends_a_run_before_it_begins_and_says_why) {
  for (auto [face, why] : wrong)
    BOOST_TEST_CONTEXT(why) {
      modal.server().show(face);
      auto heard = modal.server().heard();
      auto outcome = side.run(run_for(10s));
      check_failed(outcome, why);
      BOOST_TEST(!outcome.may_have_started);
      BOOST_TEST(modal.server().heard() == heard); // not even a preface
      BOOST_TEST(is_clean());
      modal.server().show(tls_face::right);
      BOOST_TEST(side.good(run_for(20s)).value_json == "1");
      BOOST_TEST(is_clean());
    }
}

BOOST_AUTO_TEST_CASE(waits_for_no_handshake_beyond_the_deadline) {
  modal.server().show(tls_face::stalled);
  auto began = steady::now();
  auto outcome = side.run(run_for(1'500ms));
  BOOST_TEST((steady::now() - began < 1'500ms + 3s));
  check_failed(outcome, "timed out");
  BOOST_TEST(!outcome.may_have_started);
  BOOST_TEST(modal.server().heard() == 0u);
  BOOST_TEST(is_clean());
}

/// The sandbox is there, and whom it is entered through is somebody else.
BOOST_AUTO_TEST_CASE(tells_a_router_that_is_somebody_else_nothing) {
  grpc_server router{[](grpc_exchange& call) { call.end(); }, &faces};
  modal.name_router(router.url());
  for (auto [face, why] : {wrong[0], wrong[3], wrong[6]})
    BOOST_TEST_CONTEXT(why) {
      router.show(face);
      auto run = run_for(20s);
      run.limits.wall = 500ms; // calls to a router are taken up again
      auto outcome = side.run(run);
      check_failed(outcome, why);
      BOOST_TEST(!outcome.may_have_started);
      BOOST_TEST(router.heard() == 0u); // no token of it, nothing
      BOOST_TEST(is_clean());
    }
}

BOOST_AUTO_TEST_CASE(leaves_nothing_behind_in_the_middle_of_a_run) {
  auto run = run_for(3s);
  run.source = "import time\ndef tool():\n"
               "  print('up', flush=True)\n  time.sleep(20)\n";
  auto watcher = side.begin(run);
  watcher->wait_for_output("up");
  modal.server().show(tls_face::expired);
  auto outcome = watcher->wait();
  BOOST_REQUIRE(!outcome.answer.has_value());
  BOOST_TEST(outcome.may_have_started);
  side.rest();
  modal.server().show(tls_face::right);
  auto until = steady::now() + 30s;
  while (!is_clean() && steady::now() < until)
    reconcile();
  BOOST_TEST(is_clean());
  BOOST_TEST(!contains(log_catcher::all(), value));
}

BOOST_AUTO_TEST_SUITE_END()
