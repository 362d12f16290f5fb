#include "app/cli/provider_self_test.hpp"
#include "app/cli/run_command_line.hpp"
#include "runtime/json/json.hpp"
#include "storage/maintenance/store.hpp"
#include "tests/app/ask.hpp"
#include "tests/support/providers/fake_aio.hpp"
#include "tests/support/providers/fake_daytona.hpp"
#include "tests/support/providers/fake_e2b.hpp"
#include "tests/support/providers/fake_modal.hpp"

#include <boost/test/unit_test.hpp>

#include <iostream>
#include <sstream>

using namespace troupe;
using test::e2b_stand_in;
using test::fault;

BOOST_AUTO_TEST_SUITE(backend_commands)

namespace {

struct outcome {
  int code = 0;
  std::string out, err;
};

outcome run(std::vector<std::string> words) {
  words.insert(words.begin(), "troupe");
  std::vector<const char*> argv;
  for (auto& word : words)
    argv.push_back(word.c_str());
  std::ostringstream out, err;
  auto old_out = std::cout.rdbuf(out.rdbuf());
  auto old_err = std::cerr.rdbuf(err.rdbuf());
  auto code = run_command_line(static_cast<int>(argv.size()), argv.data());
  std::cout.rdbuf(old_out);
  std::cerr.rdbuf(old_err);
  return {code, out.str(), err.str()};
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

/// Secrets come by the environment only.
struct process_variable {
  const char* name;
  process_variable(const char* n, const char* value) : name{n} {
    ::setenv(n, value, 1);
  }
  process_variable(const process_variable&) = delete;
  ~process_variable() { ::unsetenv(name); }
};

std::vector<std::string> for_e2b(const e2b_stand_in& e2b) {
  return {"--e2b.api-url=" + e2b.url(), "--e2b.sandbox-url=" + e2b.url()};
}

outcome test_backend(std::string name, std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"backend", "test", std::move(name)});
  return run(std::move(flags));
}

} // namespace

BOOST_AUTO_TEST_CASE(lists_what_is_on_and_how_to_switch_on_the_rest) {
  process_variable key{"E2B_API_KEY", "k-1"};
  auto all = run({"backend", "list", "--listen=127.0.0.1:1"});
  BOOST_TEST(all.code == 0);
  BOOST_TEST(contains(all.out, "https://api.e2b.app"), all.out);
  BOOST_TEST(contains(all.out, "MODAL_TOKEN_ID"), all.out);
  BOOST_TEST(contains(all.out, "cluster.seeds"), all.out); // of peers
  BOOST_TEST(!contains(all.out, "k-1"));
  auto listed = json::parse(
    run({"backend", "list", "--json", "--listen=127.0.0.1:1"}).out);
  BOOST_REQUIRE(listed.has_value());
  BOOST_TEST(listed->as_array().size() == 7u);
}

BOOST_AUTO_TEST_CASE(proves_the_way_to_each_provider) {
  e2b_stand_in e2b;
  test::daytona_stand_in daytona;
  test::modal_stand_in modal;
  test::aio_stand_in aio;
  process_variable keys[]{
    {"E2B_API_KEY", e2b_stand_in::api_key},
    {"DAYTONA_API_KEY", test::daytona_stand_in::api_key},
    {"MODAL_TOKEN_ID", test::modal_stand_in::token_id},
    {"MODAL_TOKEN_SECRET", test::modal_stand_in::token_secret},
    {"SANDBOX_API_KEY", test::aio_stand_in::api_key}};
  for (auto& [name, flags] :
       {std::pair<std::string, std::vector<std::string>>{"e2b", for_e2b(e2b)},
        {"daytona", {"--daytona.api-url=" + daytona.api_url()}},
        {"modal", {"--modal.server-url=" + modal.url()}},
        {"aio",
         {"--aio.host=127.0.0.1",
          "--aio.port=" + std::to_string(aio.port())}}}) {
    auto seen = test_backend(name, flags);
    BOOST_TEST(seen.code == 0, seen.out << seen.err);
    BOOST_TEST(contains(seen.out, "TypeScript tool"), seen.out);
    BOOST_TEST(contains(seen.out, name + " works"), seen.out);
  }
  BOOST_TEST(e2b.created() == 4); // three runs, and all that is beside runs
  BOOST_TEST(e2b.destroyed() == 4);
  BOOST_TEST(daytona.alive() == 0);
  BOOST_TEST(modal.alive() == 0);
  BOOST_TEST(aio.directories() == 0);
}

BOOST_AUTO_TEST_CASE(explains_which_step_failed_and_what_to_do) {
  e2b_stand_in e2b;
  ::setenv("E2B_API_KEY", "wrong-key", 1);
  auto refused = test_backend("e2b", for_e2b(e2b));
  BOOST_TEST(refused.code == 1);
  BOOST_TEST(contains(refused.out, "FAIL  credentials"), refused.out);
  BOOST_TEST(contains(refused.out, "E2B_API_KEY"), refused.out);
  BOOST_TEST(!contains(refused.out, "wrong-key"));
  auto nothing = test_backend("daytona", {});
  BOOST_TEST(nothing.code == 1);
  BOOST_TEST(contains(nothing.out, "DAYTONA_API_KEY"), nothing.out);
  e2b.server().add_fault({.path = "/execute", .code = 502});
  process_variable key{"E2B_API_KEY", e2b_stand_in::api_key};
  auto broken = test_backend("e2b", for_e2b(e2b));
  BOOST_TEST(contains(broken.out, "FAIL  Python tool"), broken.out);
  BOOST_TEST(!contains(broken.out, "TypeScript"), broken.out);
  BOOST_TEST(e2b.boxes().empty());
}

BOOST_AUTO_TEST_CASE(shows_names_of_the_webhooks_variables_and_no_values) {
  test::stand_in hook{[](const test::stand_request&, test::stand_reply& reply) {
    reply.json(200, R"({"API_TOKEN": "s3cret"})");
  }};
  auto seen
    = test_backend("webhook", {"--credentials.webhook-url=" + hook.url()});
  BOOST_TEST(seen.code == 0, seen.out);
  BOOST_TEST(contains(seen.out, "API_TOKEN"));
  BOOST_TEST(!contains(seen.out, "s3cret"));
  auto as_json = test_backend(
    "webhook", {"--json", "--credentials.webhook-url=" + hook.url()});
  auto body = json::parse_object(as_json.out);
  BOOST_REQUIRE(body.has_value());
  BOOST_TEST(body->at("ok").as_bool());
}

BOOST_AUTO_TEST_CASE(collects_what_a_crash_left_behind) {
  e2b_stand_in e2b;
  temporary_folder folder;
  process_variable key{"E2B_API_KEY", e2b_stand_in::api_key};
  auto flags = for_e2b(e2b);
  flags.push_back("--data-dir=" + (folder.path / "data").string());
  auto gc = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"backend", "gc"});
    words.insert(words.end(), flags.begin(), flags.end());
    return run(std::move(words));
  };
  BOOST_TEST(contains(gc({}).out, "no orphaned sandboxes"));
  auto tag = e2b.leave_one_behind();
  {
    store_options where;
    where.data_directory = folder.path / "data";
    auto kept = open_store(where);
    BOOST_REQUIRE_MESSAGE(kept, (kept ? "" : kept.error().text));
    sandbox_lease lease;
    lease.tag = tag;
    lease.provider = backend_kind::e2b;
    lease.organization = default_organization();
    lease.run = run_id::make();
    lease.written_at = std::chrono::time_point_cast<timestamp::duration>(
      std::chrono::system_clock::now());
    BOOST_REQUIRE(kept->sandboxes->write(lease).has_value());
  }
  auto dry = gc({"--dry-run"});
  BOOST_TEST(contains(dry.out, "would delete e2b sandbox"), dry.out << dry.err);
  BOOST_TEST(e2b.boxes().size() == 1u);
  BOOST_TEST(contains(gc({}).out, "ended e2b sandbox"));
  BOOST_TEST(e2b.boxes().empty());
  BOOST_TEST(contains(gc({}).out, "no orphaned sandboxes"));
}

BOOST_AUTO_TEST_SUITE_END()
