#include "runtime/packages/backend_with_packages.hpp"
#include "tests/runtime/packages/builder_fixture.hpp"

#include <sys/stat.h>

#include <algorithm>

using namespace troupe;
using namespace troupe::test;

BOOST_FIXTURE_TEST_SUITE(environment_builders, builder_fixture)

BOOST_AUTO_TEST_CASE(passes_a_run_without_requirements_straight_through) {
  auto run = run_with({});
  outer->start(run, std::make_shared<waiting_observer>());
  BOOST_TEST(inner->next().run == run);
}

// P18
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
  BOOST_TEST(outcome.answer->package_set.size() == 64u);
  BOOST_TEST(!watcher->lines().empty());
}

BOOST_AUTO_TEST_CASE(are_closed_to_others_whatever_a_build_leaves) {
  auto mode = [](const fs::path& path) {
    struct stat about {};
    BOOST_REQUIRE(::lstat(path.c_str(), &about) == 0);
    return about.st_mode & 07777;
  };
  const auto before = ::umask(0);
  outer.reset();
  builder->stop();
  builder.reset();
  fs::remove_all(options.root);
  options.root = dir.path / "data" / "environments";
  open();
  BOOST_TEST(mode(dir.path / "data") == 0700u);
  BOOST_TEST(mode(options.root) == 0700u);
  outer->start(run_with({pip("hostile")}),
               std::make_shared<waiting_observer>());
  auto installer = inner->next();
  const fs::path staged = installer.run->mounts.at(0).host;
  fs::create_directories(staged / "bin");
  for (auto name : {"bin/open", "bin/rooted"})
    std::ofstream{staged / name} << "yes";
  const auto outside = dir.path / "outside";
  std::ofstream{outside} << "not ours";
  fs::create_symlink(outside, staged / "link");
  ::chmod(outside.c_str(), 0666);
  ::chmod(staged.c_str(), 0777);
  ::chmod((staged / "bin").c_str(), 03777);
  ::chmod((staged / "bin/open").c_str(), 0777);
  ::chmod((staged / "bin/rooted").c_str(), 06755);
  install(installer);
  auto tool = inner->next();
  ::umask(before);
  const fs::path built = tool.run->mounts.at(0).host;
  BOOST_TEST(mode(built) == 0755u);
  BOOST_TEST(mode(built / "bin") == 0755u);
  BOOST_TEST(mode(built / "bin/open") == 0755u);
  BOOST_TEST(mode(built / "bin/rooted") == 0755u);
  BOOST_TEST((mode(built / "installed") & 022) == 0u);
  BOOST_TEST(mode(outside) == 0666u);
  tool.observer->finished(ended(*tool.run, run_status::success));
}

BOOST_AUTO_TEST_CASE(close_a_place_that_an_older_version_left_open) {
  builder->stop();
  ::chmod(options.root.c_str(), 0755);
  open();
  struct stat about {};
  BOOST_REQUIRE(::stat(options.root.c_str(), &about) == 0);
  BOOST_TEST((about.st_mode & 0777) == 0700u);
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

BOOST_AUTO_TEST_CASE(keeps_other_engines_out_of_its_directories) {
  outer->start(run_with({pip("numpy")}), std::make_shared<waiting_observer>());
  auto installer = inner->next(); // a build is under way
  environment_builder second{inner, options};
  auto refused = second.open();
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST((refused.error().code == ec::conflict));
  BOOST_TEST(fs::exists(installer.run->mounts.at(0).host));
}

BOOST_AUTO_TEST_CASE(stops_an_installer_that_takes_too_much_of_the_disk) {
  options.build_bytes = 1 << 20;
  options.look_every = std::chrono::milliseconds{1};
  open();
  auto watcher = std::make_shared<waiting_observer>();
  outer->start(run_with({pip("huge")}), watcher);
  auto installer = inner->next();
  std::ofstream{fs::path{installer.run->mounts.at(0).host} / "huge"}
    << std::string(2 << 20, 'x');
  auto [id, why] = inner->next_cancelled();
  BOOST_TEST(id.str() == installer.run->id.str());
  BOOST_TEST((why == exit_reason::disk_limit));
  installer.observer->finished(ended(*installer.run, run_status::error));
  auto outcome = watcher->wait();
  BOOST_REQUIRE(!outcome.answer.has_value());
  BOOST_TEST((outcome.answer.error().code == ec::exhausted));
  BOOST_TEST(outcome.answer.error().text.find("package-build-disk")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(finishes_nothing_that_is_over_the_bound_at_its_end) {
  options.build_inodes = 1;
  options.look_every = std::chrono::hours{1};
  open();
  auto watcher = std::make_shared<waiting_observer>();
  outer->start(run_with({pip("many")}), watcher);
  auto installer = inner->next();
  std::ofstream{fs::path{installer.run->mounts.at(0).host} / "second"} << "x";
  install(installer);
  auto outcome = watcher->wait();
  BOOST_REQUIRE(!outcome.answer.has_value());
  BOOST_TEST((outcome.answer.error().code == ec::exhausted));
  BOOST_TEST(builder->list(default_organization()).empty());
}

BOOST_AUTO_TEST_CASE(builds_so_many_at_a_time_and_the_others_after_them) {
  options.max_builds = 1;
  open();
  std::vector<std::shared_ptr<waiting_observer>> watchers;
  for (auto name : {"one", "two", "three"}) {
    watchers.push_back(std::make_shared<waiting_observer>());
    outer->start(run_with({pip(name)}), watchers.back());
  }
  for (auto& w : watchers) {
    auto installer = inner->next();
    BOOST_TEST((installer.run->kind == run_kind::command));
    BOOST_TEST(inner->pending() == 0u); // nothing beside it
    install(installer);
    auto tool = inner->next();
    BOOST_TEST((tool.run->kind == run_kind::source));
    tool.observer->finished(ended(*tool.run, run_status::success));
    w->wait();
  }
}

BOOST_AUTO_TEST_CASE(remembers_over_a_restart_what_was_used_last) {
  const auto use = [&](const char* name, bool fresh) {
    auto watcher = std::make_shared<waiting_observer>();
    outer->start(run_with({pip(name)}), watcher);
    if (fresh)
      install(inner->next());
    auto tool = inner->next();
    tool.observer->finished(ended(*tool.run, run_status::success));
    watcher->wait();
  };
  use("one", true);
  use("two", true);
  use("one", false); // younger by use, older by birth
  open();
  auto all = builder->list(default_organization());
  BOOST_REQUIRE(all.size() == 2u);
  auto by_birth
    = [](const auto& a, const auto& b) { return a.built_at < b.built_at; };
  std::sort(all.begin(), all.end(), by_birth);
  BOOST_TEST((all[0].used_at > all[1].used_at));
}

BOOST_AUTO_TEST_SUITE_END()
