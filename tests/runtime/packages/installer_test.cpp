#include "runtime/packages/backend_with_packages.hpp"
#include "runtime/packages/install_failure.hpp"
#include "runtime/packages/install_network.hpp"
#include "runtime/packages/installed_packages.hpp"
#include "runtime/packages/installer.hpp"
#include "tests/runtime/packages/builder_fixture.hpp"

#include <set>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(environment_installers)

BOOST_AUTO_TEST_CASE(has_a_fingerprint_that_order_does_not_change) {
  environment_spec a;
  a.organization = default_organization();
  a.python = "/usr/bin/python3";
  auto b = a;
  a.pip = {pip("numpy"), pip("requests", "==2.31.0")};
  b.pip = {pip("requests", "==2.31.0"), pip("numpy")};
  BOOST_TEST(environment_fingerprint(a) == environment_fingerprint(b));
  b.pip.pop_back();
  BOOST_TEST(environment_fingerprint(a) != environment_fingerprint(b));
  b = a;
  b.organization = organization_id::make();
  BOOST_TEST(environment_fingerprint(a) != environment_fingerprint(b));
}

BOOST_AUTO_TEST_CASE(builds_anew_when_packages_come_from_elsewhere) {
  environment_options options;
  const auto fingerprint = [&](bool npm) {
    std::vector<pip_requirement> python;
    std::vector<npm_requirement> node;
    if (npm)
      node = {{"thing", ""}};
    else
      python = {pip("numpy")};
    return environment_fingerprint(
      spec_of(default_organization(), python, node, options));
  };
  std::set<std::string> pips{fingerprint(false)}, npms{fingerprint(true)};
  options.pip_index_url = "https://pypi.example/simple";
  BOOST_TEST(pips.insert(fingerprint(false)).second);
  options.source_builds = true;
  BOOST_TEST(pips.insert(fingerprint(false)).second);
  options.npm_registry = "https://npm.example";
  BOOST_TEST(npms.insert(fingerprint(true)).second);
  options.node = "/elsewhere/node";
  BOOST_TEST(npms.insert(fingerprint(true)).second);
  BOOST_TEST(!pips.insert(fingerprint(false)).second); // none of pip's business
}

BOOST_AUTO_TEST_CASE(
  writes_requirements_to_files_and_never_into_a_command) { // S9
  scratch dir;
  environment_spec spec;
  spec.organization = default_organization();
  spec.pip = {pip("requests", "==2.31.0")};
  spec.npm = {{"@scope/thing", "^1.2"}};
  auto run = installation(spec, dir.path, {});
  BOOST_REQUIRE(run.has_value());
  for (const auto& argument : run->argv)
    BOOST_TEST(argument.find("requests") == std::string::npos);
  std::ifstream in{dir.path / "package.json"};
  std::string text{std::istreambuf_iterator<char>{in}, {}};
  BOOST_TEST(text.find(R"("@scope/thing":"^1.2")") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(asks_the_registry_of_the_site_and_not_for_ever) {
  scratch dir;
  environment_spec spec;
  spec.organization = default_organization();
  spec.npm = {{"thing", "^1.2"}};
  environment_options options;
  options.npm_registry = "https://npm.example/";
  auto run = installation(spec, dir.path, options);
  BOOST_REQUIRE(run.has_value());
  BOOST_REQUIRE(run->argv.size() == 7u); // sh -c SCRIPT install, three of ours
  BOOST_TEST(run->argv[6] == "https://npm.example/");
  for (const char* bound : {"--registry=$registry", "--fetch-timeout=",
                            "--fetch-retries=", "--fetch-retry-maxtimeout="})
    BOOST_TEST(run->argv[2].find(bound) != std::string::npos, bound);
}

BOOST_AUTO_TEST_CASE(opens_the_index_of_the_house_to_the_installer_alone) {
  environment_spec spec;
  spec.pip = {pip("numpy")};
  environment_options options;
  options.pip_index_url = "http://user@127.0.0.1:8081/simple";
  auto policy = install_network(spec, options);
  BOOST_REQUIRE(policy.has_value());
  BOOST_TEST((policy->mode == network_mode::listed));
  std::vector<std::string> wanted{"public", "127.0.0.1:8081"};
  BOOST_TEST(policy->allow == wanted, boost::test_tools::per_element());
  // What runs may not, the installer may not either, but for that.
  options.network = {network_mode::listed, {"example.org"}};
  options.pip_index_url = "https://[::1]/simple";
  policy = install_network(spec, options);
  BOOST_REQUIRE(policy.has_value());
  wanted = {"example.org", "[::1]:443"};
  BOOST_TEST(policy->allow == wanted, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(installs_nothing_from_outside_when_the_network_is_off) {
  environment_spec spec;
  spec.pip = {pip("numpy")};
  environment_options options;
  options.network.mode = network_mode::off;
  auto refused = install_network(spec, options);
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST((refused.error().code == ec::denied));
  BOOST_TEST(refused.error().text.find("local.network") != std::string::npos);
  options.pip_index = false; // a directory of wheels will do
  BOOST_TEST(install_network(spec, options).has_value());
}

BOOST_AUTO_TEST_CASE(insists_on_the_isolation_that_the_engine_does) {
  scratch dir;
  environment_spec spec;
  spec.pip = {pip("numpy")};
  environment_options options;
  using enum isolation_level;
  for (auto [least, used] :
       {std::pair{strict, strict}, std::pair{standard, strict},
        std::pair{best_effort, best_effort}}) {
    options.isolation = least;
    auto run = installation(spec, dir.path, options);
    BOOST_TEST((run.has_value() && run->isolation == used));
  }
  options.isolation = off;
  auto refused = installation(spec, dir.path, options);
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST(refused.error().text.find("best-effort") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(says_by_the_end_of_the_installer_what_can_be_done) {
  const auto code_of = [](exit_reason reason, std::string lines = {}) {
    run_result r;
    r.status = run_status::error;
    r.reason = reason;
    auto e = install_failure({std::move(r), true}, {}, lines);
    BOOST_REQUIRE(e.has_value());
    BOOST_TEST(e->text.find(lines) != std::string::npos);
    return e->code;
  };
  using enum exit_reason;
  BOOST_TEST(
    (code_of(exited, "No matching distribution") == ec::invalid_request));
  BOOST_TEST((code_of(exited, "NewConnectionError(...)") == ec::unavailable));
  BOOST_TEST((code_of(exited, "npm ERR! code ENOTFOUND") == ec::unavailable));
  BOOST_TEST((code_of(wall_timeout) == ec::timeout));
  BOOST_TEST((code_of(memory_limit) == ec::exhausted));
  BOOST_TEST((code_of(policy_denied) == ec::denied));
  BOOST_TEST((code_of(lost) == ec::unavailable));
  BOOST_TEST((code_of(start_failed) == ec::unavailable));
  run_result good;
  good.status = run_status::success;
  BOOST_TEST(!install_failure({good, true}, {}, {}).has_value());
  auto full = install_failure({good, true}, "they take too much", {});
  BOOST_TEST((full && full->code == ec::exhausted));
}

BOOST_AUTO_TEST_CASE(leaves_out_each_try_of_the_installer) {
  run_result r;
  r.status = run_status::error;
  r.reason = exit_reason::exited;
  auto e = install_failure(
    {std::move(r), true}, {},
    "WARNING: Retrying (Retry(total=4)) after NewConnectionError\n"
    "ERROR: No matching distribution found for x");
  BOOST_REQUIRE(e.has_value());
  BOOST_TEST((e->code == ec::unavailable));
  BOOST_TEST(e->text.ends_with(
    "last lines:\nERROR: No matching distribution found for x"));
}

BOOST_AUTO_TEST_CASE(records_versions_and_hashes_of_both_installers) {
  scratch dir;
  std::ofstream{dir.path / "pip-report.json"} << R"({"install": [
    {"metadata": {"name": "six", "version": "1.16.0"},
     "download_info": {"archive_info": {"hash": "sha256=aa"}}}]})";
  std::ofstream{dir.path / "package-lock.json"} << R"({"packages": {
    "": {"name": "env"},
    "node_modules/a/node_modules/@s/b": {"version": "1.0.0",
                                         "integrity": "sha512-bb"}}})";
  std::vector<std::string> wanted{"six==1.16.0 sha256=aa",
                                  "@s/b@1.0.0 sha512-bb"};
  BOOST_TEST(installed_packages(dir.path) == wanted,
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
