#include "runtime/environment/environment_backend.hpp"
#include "runtime/environment/installer.hpp"
#include "tests/runtime/environment/builder_fixture.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

std::shared_ptr<const sandbox_config> local_config_of(json::object said) {
  auto config = std::make_shared<sandbox_config>();
  config->type = backend_kind::local;
  config->config = std::move(said);
  return config;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(environment_builders, builder_fixture)

BOOST_AUTO_TEST_CASE(passes_a_run_without_requirements_straight_through) {
  auto run = run_with({});
  outer->start(run, std::make_shared<waiting_observer>());
  BOOST_TEST(inner->next().run == run);
}

BOOST_AUTO_TEST_CASE(installs_first_and_then_runs_in_what_was_installed) {
  auto watcher = std::make_shared<waiting_observer>();
  outer->start(run_with({pip("requests", "==2.31.0")}), watcher);
  auto installer = inner->next();
  BOOST_TEST(installer.run->mounts.at(0).inside == "/env");
  BOOST_TEST(installer.run->mounts.at(0).writable);
  install(installer);
  auto tool = inner->next();
  BOOST_TEST(tool.run->interpreter == "/env/bin/python3");
  BOOST_TEST(!tool.run->mounts.at(0).writable);
  BOOST_TEST(fs::exists(fs::path{tool.run->mounts.at(0).host} / "installed"));
  BOOST_TEST(tool.run->env.at("PATH").reveal().starts_with("/env/bin:"));
  tool.observer->finished(ended(*tool.run, run_status::success));
  auto outcome = watcher->wait();
  BOOST_REQUIRE(outcome.answer.has_value());
  BOOST_TEST(outcome.answer->environment.size() == 64u);
  BOOST_TEST(!watcher->lines().empty());
}

BOOST_AUTO_TEST_CASE(builds_once_for_everybody_who_wants_the_same) {
  std::vector<std::shared_ptr<waiting_observer>> watchers;
  for (int i = 0; i < 20; ++i) {
    watchers.push_back(std::make_shared<waiting_observer>());
    outer->start(run_with({pip("numpy")}), watchers.back());
  }
  install(inner->next());
  for (int i = 0; i < 20; ++i) {
    auto tool = inner->next();
    BOOST_TEST((tool.run->kind == run_kind::source));
    tool.observer->finished(ended(*tool.run, run_status::success));
  }
  for (auto& w : watchers)
    BOOST_TEST(w->wait().answer.has_value());
  BOOST_TEST(inner->pending() == 0u);
  BOOST_TEST(builder->list(default_organization()).size() == 1u);
}

BOOST_AUTO_TEST_CASE(tells_the_installers_last_lines_when_it_fails) { // C12
  auto watcher = std::make_shared<waiting_observer>();
  outer->start(run_with({pip("no-such-thing")}), watcher);
  auto installer = inner->next();
  installer.observer->output(output_stream::err,
                             "ERROR: No matching distribution found\n");
  installer.observer->finished(ended(*installer.run, run_status::error));
  auto outcome = watcher->wait();
  BOOST_REQUIRE(!outcome.answer.has_value());
  BOOST_TEST(outcome.answer.error().text.find("No matching distribution")
             != std::string::npos);
  BOOST_TEST(!outcome.may_have_started);
  BOOST_TEST(builder->list(default_organization()).empty());
  auto home = options.root / default_organization().str();
  BOOST_TEST(fs::is_empty(home)); // nothing half-built is left
}

BOOST_AUTO_TEST_CASE(finds_finished_environments_again_and_sweeps_the_rest) {
  outer->start(run_with({pip("numpy")}), std::make_shared<waiting_observer>());
  install(inner->next());
  inner->next();
  auto half = options.root / default_organization().str() / ".building-x-y";
  fs::create_directories(half);
  open(); // as after a restart
  BOOST_TEST(builder->list(default_organization()).size() == 1u);
  BOOST_TEST(!fs::exists(half));
  outer->start(run_with({pip("numpy")}), std::make_shared<waiting_observer>());
  BOOST_TEST(inner->next().run->interpreter == "/env/bin/python3");
}

BOOST_AUTO_TEST_CASE(cancels_a_run_that_waits_for_its_environment) {
  auto watcher = std::make_shared<waiting_observer>();
  auto run = run_with({pip("numpy")});
  outer->start(run, watcher);
  auto installer = inner->next();
  outer->cancel(run->id, exit_reason::cancelled);
  auto outcome = watcher->wait();
  BOOST_REQUIRE(outcome.answer.has_value());
  BOOST_TEST((outcome.answer->reason == exit_reason::cancelled));
  install(installer); // the build goes on for the next one
  BOOST_TEST(inner->cancels == 0);
}

BOOST_AUTO_TEST_CASE(evicts_the_least_used_beyond_the_size_bound) {
  options.max_bytes = 1; // every environment is too much
  open();
  for (auto name : {"one", "two"}) {
    auto watcher = std::make_shared<waiting_observer>();
    outer->start(run_with({pip(name)}), watcher);
    install(inner->next());
    auto tool = inner->next();
    tool.observer->finished(ended(*tool.run, run_status::success));
    watcher->wait();
  }
  BOOST_TEST(builder->list(default_organization()).size() == 1u);
}

BOOST_AUTO_TEST_CASE(refuses_to_share_a_directory_nobody_allowed) {
  prepared_run run;
  run.config = local_config_of({{"sandbox_dir", "/etc"}});
  auto wishes = wishes_of(run, options);
  BOOST_REQUIRE(!wishes.has_value());
  BOOST_TEST((wishes.error().code == ec::denied));
}

BOOST_AUTO_TEST_CASE(ignores_the_standard_directory_where_nobody_shares_it) {
  options.standard_dir = "/etc";
  prepared_run run;
  run.config = local_config_of({{"sandbox_dir", "/etc"}});
  auto wishes = wishes_of(run, options);
  BOOST_REQUIRE(wishes.has_value());
  BOOST_TEST(wishes->mounts.empty());
  BOOST_TEST(wishes->working_dir.empty());
  options.shared_dirs.push_back("/etc");
  wishes = wishes_of(run, options);
  BOOST_REQUIRE(wishes.has_value());
  BOOST_TEST(wishes->mounts.size() == 1u);
  BOOST_TEST(!wishes->mounts.at(0).writable);
}

BOOST_AUTO_TEST_CASE(follows_no_link_out_of_a_shared_directory) {
  fs::create_directory_symlink("/etc", dir.path / "shared" / "link");
  prepared_run run;
  run.config = local_config_of(
    {{"sandbox_dir", (dir.path / "shared" / "link").string()}});
  BOOST_TEST(!wishes_of(run, options).has_value());
}

BOOST_AUTO_TEST_CASE(reads_requirements_txt_of_a_shared_directory) {
  std::ofstream{dir.path / "shared" / "requirements.txt"}
    << "# ours\nrequests==2.31.0\n\nnumpy  # fast\n";
  prepared_run run;
  run.config = local_config_of(
    {{"sandbox_dir", (dir.path / "shared").string()}, {"use_venv", true}});
  auto wishes = wishes_of(run, options);
  BOOST_REQUIRE(wishes.has_value());
  BOOST_TEST(wishes->packages.pip.size() == 2u);
  BOOST_TEST(wishes->working_dir == fs::canonical(dir.path / "shared"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(environment_specs)

BOOST_AUTO_TEST_CASE(has_a_fingerprint_that_order_does_not_change) {
  environment_spec a{default_organization(), "/usr/bin/python3", "1", {}, {}};
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

BOOST_AUTO_TEST_CASE(merges_lists_and_names_what_contradicts) {
  auto both = merge({pip("Numpy")}, {pip("numpy", "==1.26.4"), pip("x")});
  BOOST_REQUIRE(both.has_value());
  BOOST_TEST(both->size() == 2u);
  BOOST_TEST(both->at(0).specifier == "==1.26.4");
  std::vector<pip_requirement> config{pip("numpy", "==1.0")};
  auto contradiction = merge(config, {pip("numpy", "==2.0")});
  BOOST_REQUIRE(!contradiction.has_value());
  BOOST_TEST(contradiction.error().text.find("numpy==1.0")
             != std::string::npos);
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

BOOST_AUTO_TEST_SUITE_END()
