// Modal's official client against the stand-in that our provider is tested
// with (tests/compat/modal_stand_in), and its calls beside ours.
#include "net/providers/modal/provider.hpp"
#include "runtime/sandboxes/sandbox_for_run.hpp"
#include "tests/support/await_here.hpp"
#include "tests/support/hosts/npm_client.hpp"
#include "tests/support/providers/fake_modal.hpp"
#include "tests/support/providers/remote_contract.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <set>
#include <string>

using namespace troupe;
using test::modal_stand_in;

BOOST_AUTO_TEST_SUITE(modal_client)

namespace {

const std::string folder = TROUPE_BINARY_DIR "/modal_client";

const test::npm_client client{"modal_stand_in", folder};

void run_theirs(modal_stand_in& modal, bool newer) {
  modal.claim_https();
  modal.end_router_tokens_at("TaskExecStart");
  auto script = "cd " + folder + " && MODAL_SERVER_URL=" + modal.url()
    + " MODAL_CONFIG_PATH=/nonexistent MODAL_SANDBOX_V2=" + (newer ? "1" : "0")
    + " node client_test.mjs " + modal_stand_in::token_id + " "
    + modal_stand_in::token_secret;
  BOOST_TEST(std::system(script.c_str()) == 0);
  BOOST_TEST(modal.alive() == 0);
  BOOST_TEST(modal.created() == 1);
}

void run_ours(modal_stand_in& modal, bool newer) {
  auto o = modal.options();
  o.newer_sandboxes = newer;
  boost::asio::io_context io{1};
  auto http = std::make_shared<net::http_client>(io.get_executor(),
                                                 net::client_options{});
  auto where = make_modal(http, o).value();
  call_scope scope{std::chrono::steady_clock::now() + std::chrono::seconds{60},
                   nullptr};
  auto run = test::shell_run(backend_kind::modal, "cat");
  run.network = {network_mode::listed, {"example.org", "10.0.0.0/8"}};
  run.limits.memory_bytes = 512u << 20;
  run.env.emplace("NAME", secret{"it's"});
  run.pip_requirements = {{"requests", {}, ""}};
  auto wanted = sandbox_for(run);
  wanted.tag = "tag";
  wanted.lifetime = std::chrono::seconds{60};
  auto made = test::await_here(io, where->create(wanted, scope));
  BOOST_REQUIRE(made.sandbox.has_value());
  auto box = *made.sandbox;
  modal.end_router_tokens_at("TaskExecStart");
  process_request cat;
  cat.argv = {"cat"};
  cat.input = "given";
  cat.env = {{"MORE", "x"}};
  cat.cwd = "/tmp";
  std::string out;
  auto sink = [&out](output_stream, std::string_view text) { out += text; };
  auto done = test::await_here(io, where->execute(box, cat, sink, scope));
  BOOST_TEST(done.end.has_value());
  BOOST_TEST(out == "given");
  auto kept = test::await_here(
    io, where->reconnect(box, std::chrono::seconds{60}, scope));
  BOOST_TEST(kept.has_value());
  auto all = test::await_here(io, where->list(scope));
  BOOST_TEST((all && all->size() == 1u));
  BOOST_TEST(test::await_here(io, where->destroy(box, scope)).has_value());
}

std::set<std::string> names_of(const modal_stand_in& modal) {
  auto calls = modal.calls();
  return {calls.begin(), calls.end()};
}

/// What we say without them, and they say without us, with a reason each.
struct difference {
  std::set<std::string> ours;
  std::set<std::string> theirs;
  std::set<std::string> fields{}; // of theirs: "SandboxCreateV2 2.20"
};

void compare(bool newer, const difference& calls) {
  modal_stand_in theirs, ours;
  run_theirs(theirs, newer);
  run_ours(ours, newer);
  auto a = names_of(theirs);
  auto b = names_of(ours);
  for (const auto& name : b) {
    BOOST_TEST((a.contains(name) || calls.ours.contains(name)), name);
    if (!a.contains(name))
      continue;
    // Metadata: ours all theirs, but for whose trace it is.
    auto said = theirs.metadata_of(name);
    for (const auto& key : ours.metadata_of(name))
      BOOST_TEST((said.contains(key) || key == "traceparent"),
                 name << " " << key);
    // What theirs tells about itself is not needed; their reply sizes neither.
    const std::set<std::string> of_their_own{
      "accept-encoding", "grpc-accept-encoding", "grpc-timeout",
      "x-modal-client-platform"};
    for (const auto& key : said)
      BOOST_TEST(
        (ours.metadata_of(name).contains(key) || of_their_own.contains(key)),
        name << " lacks " << key);
    // Fields: none that theirs does not fill.
    auto filled = theirs.fields_of(name);
    auto said_too = ours.fields_of(name);
    for (const auto& field : said_too)
      BOOST_TEST((filled.contains(field)), name << " field " << field);
    // And all that theirs does, messages in messages too.
    for (const auto& field : filled)
      BOOST_TEST(
        (said_too.contains(field) || calls.fields.contains(name + " " + field)),
        name << " lacks field " << field);
  }
  for (const auto& name : a)
    BOOST_TEST((b.contains(name) || calls.theirs.contains(name)), name);
}

/// We look for what either generation left behind, theirs for the one it uses.
/// Theirs says that there are no ports and no GPU; the end of the input comes
/// with its last bytes, which begin at 0 (decision 0004).
std::set<std::string> left_out(const std::string& creation) {
  return {creation + " 2.20", creation + " 2.5.4", "TaskExecStdinWrite 3"};
}

} // namespace

BOOST_AUTO_TEST_CASE(takes_our_stand_in_for_modal_and_speaks_as_we_do,
                     *boost::unit_test::precondition(client)) {
  BOOST_TEST_CONTEXT("the newer sandboxes")
  compare(true, {{"SandboxList"}, {}, left_out("SandboxCreateV2")});
}

BOOST_AUTO_TEST_CASE(does_so_with_the_older_sandboxes_too,
                     *boost::unit_test::precondition(client)) {
  compare(false, {{"SandboxListV2"}, {}, left_out("SandboxCreate")});
}

BOOST_AUTO_TEST_SUITE_END()
