#include "net/providers/modal/provider.hpp"
#include "tests/support/providers/fake_modal.hpp"
#include "tests/support/providers/remote_contract.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <future>

using namespace troupe;
using namespace troupe::net;
using namespace std::chrono_literals;
using troupe::test::modal_stand_in;
using troupe::test::remote_side;

namespace {

struct fixture {
  modal_stand_in modal;
  modal_options options = modal.options();
  std::unique_ptr<remote_side> side;

  fixture() { open(); }
  void open() {
    side = std::make_unique<remote_side>();
    side->open([this](auto client) { return make_modal(client, options); });
  }
  static prepared_run python(std::string source) {
    return test::python_run(backend_kind::modal, std::move(source));
  }
  void check_nothing_is_left() {
    side->rest();
    BOOST_TEST(modal.alive() == 0);
    BOOST_TEST(side->leases->list(backend_kind::modal).empty());
  }
};

const std::string one = "def tool():\n  return 1\n";

} // namespace

BOOST_FIXTURE_TEST_SUITE(modal_backends, fixture)

BOOST_AUTO_TEST_CASE(keeps_the_contract_of_every_provider) {
  // Packages are in the image: what cannot be installed fails elsewhere.
  test::check_contract(*side, backend_kind::modal,
                       [this] { check_nothing_is_left(); },
                       {"failed installs"});
}

BOOST_AUTO_TEST_CASE(is_counted_with_what_goes_over_http) {
  std::shared_ptr<client_counters> counted;
  side = std::make_unique<remote_side>();
  side->open([&](auto client) {
    counted = client->shared_counters();
    return make_modal(client, options);
  });
  modal.fail_next("AppGetOrCreate", grpc_code::unavailable);
  side->good(python(one));
  BOOST_TEST(counted->requests >= modal.calls().size());
  BOOST_TEST(counted->retries == 1u);
  BOOST_TEST(counted->connections_opened == 2u); // control plane and router
  BOOST_TEST(counted->connections_reused > 0u);
  BOOST_TEST(counted->failures == 0u);
}

BOOST_AUTO_TEST_CASE(puts_packages_into_layers_of_the_image) { // S10
  auto run = python(one);
  run.pip_requirements = {{"requests", {}, "==2.31.0"}, {"numpy", {}, ""}};
  side->good(run);
  auto commands = modal.image_commands();
  BOOST_TEST(std::count(commands.begin(), commands.end(),
                        "RUN python -m pip install numpy requests==2.31.0")
             == 1);
  side->good(run); // known by now
  BOOST_TEST(modal.image_commands().size() == commands.size());
}

BOOST_AUTO_TEST_CASE(blames_the_run_for_its_own_build_only) {
  auto run = python(one);
  int version = 0;
  for (auto [result, code] :
       {std::pair{2, ec::invalid_request}, std::pair{3, ec::unavailable},
        std::pair{6, ec::unavailable}, std::pair{8, ec::unavailable}}) {
    modal.end_builds_as(result);
    run.pip_requirements = {{"numpy", {}, "==" + std::to_string(++version)}};
    auto outcome = side->run(run);
    BOOST_REQUIRE(!outcome.answer.has_value());
    BOOST_TEST((outcome.answer.error().code == code), result);
  }
  modal.end_builds_as(1);
  for (int i = 0; i < 3; ++i)
    modal.fail_next("ImageJoinStreaming", grpc_code::unavailable);
  BOOST_TEST(side->good(run).value_json == "1");
}

BOOST_AUTO_TEST_CASE(names_the_package_that_would_not_install) {
  auto run = python(one);
  run.pip_requirements = {{"no-such-thing", {}, "==1"}};
  modal.end_builds_as(2);
  modal.print_while_building(std::string(9'000, '.')
                             + "\nCollecting no-such-thing==1\n"
                               "ERROR: No matching distribution found\n");
  auto outcome = side->run(run);
  BOOST_REQUIRE(!outcome.answer.has_value());
  auto text = outcome.answer.error().text;
  BOOST_TEST((outcome.answer.error().code == ec::invalid_request));
  BOOST_TEST(text.find("lines:\nCollecting no-such-thing==1\nERROR: No match")
               != text.npos,
             text);
  BOOST_TEST(text.size() < 5'000u);
}

BOOST_AUTO_TEST_CASE(asks_anew_for_ids_that_have_lost_their_meaning) {
  auto packed = python(one);
  packed.pip_requirements = {{"numpy", {}, ""}};
  for (auto older : {false, true}) {
    if (older)
      modal.serve_older_only();
    for (auto gone :
         {&modal_stand_in::stop_app, &modal_stand_in::delete_images}) {
      BOOST_TEST(side->good(python(one)).value_json == "1");
      BOOST_TEST(side->good(packed).value_json == "1");
      (modal.*gone)();
      BOOST_TEST(side->good(packed).value_json == "1");
      BOOST_TEST(side->good(python(one)).value_json == "1");
      check_nothing_is_left();
    }
  }
  modal.stop_app();
  std::promise<bool> listed;
  side->backend->reconcile(
    true, [&](auto found) { listed.set_value(found.has_value()); });
  BOOST_TEST(listed.get_future().get());
}

BOOST_AUTO_TEST_CASE(says_that_nothing_was_begun_where_no_router_was) {
  auto run = python(one);
  run.limits.wall = 300ms;
  modal.name_router("http://127.0.0.1:1");
  auto outcome = side->run(run);
  BOOST_REQUIRE(!outcome.answer.has_value());
  BOOST_TEST(!outcome.may_have_started);
  modal.name_router({});
  modal.fail_next("TaskExecStart", grpc_code::permission_denied);
  outcome = side->run(run);
  BOOST_REQUIRE(!outcome.answer.has_value());
  BOOST_TEST(!outcome.may_have_started);
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(takes_calls_up_again_that_broke_under_it) {
  for (auto code :
       {grpc_code::unavailable, grpc_code::internal,
        grpc_code::deadline_exceeded, grpc_code::unknown, grpc_code::cancelled})
    for (auto method : {"TaskExecStart", "TaskExecStdinWrite", "TaskExecWait",
                        "TaskExecStdioRead"}) {
      modal.fail_next(method, code);
      BOOST_TEST(side->good(python(one)).value_json == "1", method);
    }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(gives_a_command_the_packages_of_both_kinds) {
  auto run = test::shell_run(backend_kind::modal, "echo hi");
  run.pip_requirements = {{"numpy", {}, ""}};
  run.npm_requirements = {{"left-pad", "1.3.0"}};
  BOOST_TEST(side->good(run).stdout_text == "hi\n");
  auto commands = modal.image_commands();
  auto has = [&](std::string_view part) {
    return std::ranges::any_of(commands, [&](const std::string& each) {
      return each.find(part) != each.npos;
    });
  };
  BOOST_TEST(has("pip install numpy"));
  BOOST_TEST(has("apt-get install -y --no-install-recommends nodejs npm"));
  BOOST_TEST(has("--ignore-scripts left-pad@1.3.0"));
}

BOOST_AUTO_TEST_CASE(takes_the_older_sandboxes_where_the_newer_are_not_served) {
  for (auto how : {grpc_code::unimplemented, grpc_code::failed_precondition}) {
    open();
    modal.serve_older_only(how);
    auto before = modal.calls().size();
    auto run = python("import os\ndef tool():\n  return os.environ['KEY']\n");
    run.env.emplace("KEY", secret{"it's"});
    BOOST_TEST(side->good(run).value_json == "\"it's\"");
    check_nothing_is_left();
    auto calls = modal.calls();
    calls.erase(calls.begin(), calls.begin() + static_cast<long>(before));
    auto count = [&](std::string_view method) {
      return std::count(calls.begin(), calls.end(), method);
    };
    BOOST_TEST(count("SandboxCreateV2") == 1);
    BOOST_TEST(count("SecretGetOrCreate") == 1);
    BOOST_TEST(count("SandboxCreate") == 1);
    BOOST_TEST(count("SandboxGetTaskId") == 2);
    BOOST_TEST(count("TaskGetCommandRouterAccess") == 1);
    BOOST_TEST(count("SandboxTerminate") == 1);
  }
}

BOOST_AUTO_TEST_CASE(keeps_the_contract_with_older_sandboxes) {
  modal.serve_older_only();
  options.newer_sandboxes = false; // MODAL_SANDBOX_V2=0
  open();
  test::check_contract(*side, backend_kind::modal,
                       [this] { check_nothing_is_left(); },
                       {"failed installs"});
  for (const auto& call : modal.calls())
    BOOST_TEST(call != "SandboxCreateV2");
}

BOOST_AUTO_TEST_CASE(ends_an_older_sandbox_that_cannot_be_entered) {
  modal.serve_older_only();
  modal.fail_next("TaskGetCommandRouterAccess", grpc_code::permission_denied);
  BOOST_TEST(!side->run(python(one)).answer.has_value());
  BOOST_TEST(modal.created() == 1);
  check_nothing_is_left();
  // One that could not be ended either is found by its tag.
  modal.fail_next("TaskGetCommandRouterAccess", grpc_code::permission_denied);
  modal.fail_next("SandboxTerminate", grpc_code::permission_denied);
  BOOST_TEST(!side->run(python(one)).answer.has_value());
  BOOST_TEST(modal.alive() == 1);
  std::promise<std::size_t> done;
  side->backend->reconcile(
    false, [&](auto found) { done.set_value(found ? found->size() : 0); });
  BOOST_TEST(done.get_future().get() == 1u);
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(names_the_settings_when_the_token_is_refused) {
  options.token_secret = secret{"as-wrong"};
  open();
  auto outcome = side->run(python(one));
  BOOST_REQUIRE(!outcome.answer.has_value());
  auto text = outcome.answer.error().text;
  BOOST_TEST(text.find("MODAL_TOKEN_SECRET") != std::string::npos);
  BOOST_TEST(text.find("as-wrong") == std::string::npos);
  BOOST_TEST(!outcome.may_have_started);
}

BOOST_AUTO_TEST_CASE(repeats_calls_that_failed_for_a_moment) {
  modal.fail_next("SandboxCreateV2", grpc_code::unavailable);
  modal.fail_next("AppGetOrCreate", grpc_code::internal);
  BOOST_TEST(side->good(python(one)).value_json == "1");
  BOOST_TEST(modal.created() == 1);
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(waits_as_the_server_directs) {
  modal.fail_next(
    "SandboxCreateV2", grpc_code::resource_exhausted,
    "CAgaJwoedHQvbW9kYWwuY2xpZW50LlJQQ1JldHJ5UG9saWN5EgUNzczMPQ==");
  BOOST_TEST(side->good(python(one)).value_json == "1");
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(says_that_a_run_may_have_begun_when_the_router_went) {
  modal.fail_next("TaskExecStart", grpc_code::aborted);
  auto outcome = side->run(python(one));
  BOOST_TEST(!outcome.answer.has_value());
  BOOST_TEST(outcome.may_have_started);
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(finds_sandboxes_again_by_their_tag) {
  modal.fail_next("SandboxTerminateV2", grpc_code::permission_denied);
  side->good(python(one));
  BOOST_TEST(modal.alive() == 1);
  std::promise<std::size_t> done;
  side->backend->reconcile(
    false, [&](auto found) { done.set_value(found ? found->size() : 0); });
  BOOST_TEST(done.get_future().get() == 1u);
  check_nothing_is_left();
}

// B40, B42, B47
BOOST_AUTO_TEST_CASE(leaves_nothing_whatever_a_call_ends_with) {
  for (auto method :
       {"AuthTokenGet", "AppGetOrCreate", "EnvironmentGetOrCreate",
        "ImageGetOrCreate", "SandboxCreateV2", "TaskExecStart"})
    for (auto code :
         {grpc_code::invalid_argument, grpc_code::not_found,
          grpc_code::failed_precondition, grpc_code::permission_denied,
          grpc_code::unimplemented, grpc_code::resource_exhausted}) {
      // Then it is the older one that is asked for: a test of its own.
      if (method == std::string_view{"SandboxCreateV2"}
          && (code == grpc_code::failed_precondition
              || code == grpc_code::unimplemented))
        continue;
      open(); // what was looked up is forgotten
      modal.fail_next(method, code);
      auto run = python(one);
      run.env.emplace("TOKEN", secret{"s3cret-of-the-run"});
      run.deadline = std::chrono::steady_clock::now() + 20s;
      auto outcome = side->run(run);
      BOOST_TEST_CONTEXT(method << " " << static_cast<int>(code)) {
        BOOST_REQUIRE(!outcome.answer.has_value());
        auto text = outcome.answer.error().text;
        BOOST_TEST(text.find("s3cret") == std::string::npos);
        BOOST_TEST(text.find(modal_stand_in::token_secret)
                   == std::string::npos);
        // Somebody else may have it, unless it began.
        BOOST_TEST((outcome.may_have_started
                    || outcome.answer.error().code == ec::unavailable
                    || outcome.answer.error().code == ec::denied
                    || outcome.answer.error().code == ec::exhausted));
        check_nothing_is_left();
      }
    }
}

// B44
BOOST_AUTO_TEST_CASE(takes_up_output_where_a_broken_connection_left_it) {
  auto run = python("import time\ndef tool():\n"
                    "  print('before', flush=True)\n  time.sleep(1)\n"
                    "  print('after')\n  return 7\n");
  auto watcher = side->begin(run);
  watcher->wait_for_output("before");
  modal.server().break_connections();
  auto outcome = watcher->wait();
  BOOST_REQUIRE_MESSAGE(outcome.answer.has_value(),
                        outcome.answer.error().text);
  BOOST_TEST(outcome.answer->value_json == "7");
  BOOST_TEST(outcome.answer->stdout_text == "before\nafter\n");
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(renews_a_token_that_the_router_takes_no_more) {
  for (auto older : {false, true}) {
    if (older)
      modal.serve_older_only();
    auto run = python("import time\ndef tool():\n"
                      "  print('before', flush=True)\n  time.sleep(1)\n"
                      "  print('after')\n  return 7\n");
    auto watcher = side->begin(run);
    watcher->wait_for_output("before");
    modal.end_router_tokens();
    modal.server().break_connections();
    auto outcome = watcher->wait();
    BOOST_REQUIRE_MESSAGE(outcome.answer.has_value(),
                          outcome.answer.error().text);
    BOOST_TEST(outcome.answer->value_json == "7");
    BOOST_TEST(outcome.answer->stdout_text == "before\nafter\n");
    check_nothing_is_left();
  }
}

BOOST_AUTO_TEST_CASE(gives_up_when_a_new_token_is_refused_as_well) {
  modal.fail_next("TaskExecStart", grpc_code::unauthenticated);
  modal.fail_next("SandboxGetCommandRouterAccess",
                  grpc_code::permission_denied);
  auto outcome = side->run(python(one));
  BOOST_REQUIRE(!outcome.answer.has_value());
  BOOST_TEST((outcome.answer.error().code == ec::denied));
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(starts_once_however_often_it_has_to_ask) {
  modal.fail_next("TaskExecStart", grpc_code::unavailable);
  BOOST_TEST(side->good(python(one)).value_json == "1");
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(looks_up_once_what_many_runs_want_at_once) {
  std::vector<std::shared_ptr<test::waiting_observer>> all;
  for (int i = 0; i < 10; ++i)
    all.push_back(side->begin(python(one)));
  for (auto& each : all) {
    auto outcome = each->wait();
    BOOST_REQUIRE_MESSAGE(outcome.answer.has_value(),
                          outcome.answer.error().text);
    BOOST_TEST(outcome.answer->value_json == "1");
  }
  side->rest();
  auto calls = modal.calls();
  for (auto once : {"AuthTokenGet", "AppGetOrCreate", "EnvironmentGetOrCreate",
                    "ImageGetOrCreate"})
    BOOST_TEST(std::ranges::count(calls, once) == 1, once);
  BOOST_TEST(modal.created() == 10);
  check_nothing_is_left();
}

// A token that is refused is not another one's trouble: it is at an end.
BOOST_AUTO_TEST_CASE(fails_at_once_when_credentials_are_withdrawn) {
  for (auto code : {grpc_code::unauthenticated, grpc_code::permission_denied}) {
    open();
    modal.fail_next("AuthTokenGet", code);
    auto before = modal.calls().size();
    BOOST_TEST(!side->run(python(one)).answer.has_value());
    BOOST_TEST(modal.calls().size() == before + 1);
  }
}

BOOST_AUTO_TEST_SUITE_END()
