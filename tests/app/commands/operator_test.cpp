// What the operator does to an engine that asks everybody else for a key.
#include "tests/app/serving.hpp"
#include "tests/app/typed.hpp"

using namespace troupe;

BOOST_AUTO_TEST_SUITE(operator_commands)

struct fixture {
  temporary_folder place;
  std::string data = "--data-dir=" + (place.path / "data").string();
  serving engine{place, {"--http.require-key=true", "--local.enabled=false"}};
  std::string address = engine.address();

  outcome type(std::vector<std::string> words) {
    words.push_back(data);
    return run_program(std::move(words), place.path);
  }
};

BOOST_FIXTURE_TEST_CASE(work_while_it_serves, fixture) {
  BOOST_TEST(contains(ask(address, "GET /v1/keys"), " 401 "));
  auto kept = type({"backup", "create", (place.path / "copy").string()});
  BOOST_TEST(kept.code == 0, kept.err);
  auto whole = type({"backup", "verify", (place.path / "copy").string()});
  BOOST_TEST(whole.code == 0, whole.err);
  auto rotated = type({"key", "rotate-master"});
  BOOST_TEST(rotated.code == 0, rotated.err);
  auto tenant = type({"key", "create", "--org", "new", "--scope", "admin"});
  BOOST_TEST(tenant.code == 0, tenant.err);
  BOOST_TEST(contains(tenant.out, "troupe_"));
  auto all = type({"org", "list", "--json"});
  BOOST_TEST(contains(all.out, "org-"), all.err);

  // The key of a tenant is good for the tenant's own things, and does not
  // stand in an operator's way.
  tenant.out.pop_back();
  ::setenv("TROUPE_API_KEY", tenant.out.c_str(), 1);
  auto own = type({"org", "show", "--json"});
  auto again = type({"backup", "create", (place.path / "other").string()});
  auto asked = type({"org", "list", "--server=http://" + address});
  ::unsetenv("TROUPE_API_KEY");
  BOOST_TEST(contains(own.out, R"("can_operate":false)"), own.out);
  BOOST_TEST(again.code == 0, again.err);
  BOOST_TEST(contains(asked.err, "operators see all"), asked.err);
  auto refused = type({"org", "list", "--server=http://" + address});
  BOOST_TEST(contains(refused.err, "TROUPE_API_KEY"), refused.err);
  BOOST_TEST(engine.end(SIGTERM) == 0);
}

BOOST_FIXTURE_TEST_CASE(drain_it_and_leave_it_serving, fixture) {
  auto done = type({"drain", "--json"});
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(contains(done.out, R"({"drained":true,"running":0})"), done.out);
  BOOST_TEST(contains(ask(address, "GET /readyz"), " 503 "));
  auto listed = type({"tool", "list"});
  BOOST_TEST(listed.code == 0, listed.err);
  BOOST_TEST(engine.end(SIGTERM) == 0);
}

BOOST_FIXTURE_TEST_CASE(say_who_has_the_data_or_the_port, fixture) {
  const auto pid = "pid " + std::to_string(engine.pid());
  auto second = type({"serve", "--listen=127.0.0.1:0"});
  BOOST_TEST(second.code == exit_refused); // its state forbids
  BOOST_TEST(contains(second.err, pid), second.err);
  BOOST_TEST(contains(second.err, address), second.err);
  auto other
    = run_program({"serve", "--listen=" + address, "--local.enabled=false",
                   "--data-dir=" + (place.path / "new").string()},
                  place.path);
  BOOST_TEST(other.code == exit_unreachable); // it cannot now
  BOOST_TEST(contains(other.err, pid), other.err);
}

BOOST_AUTO_TEST_SUITE_END()
