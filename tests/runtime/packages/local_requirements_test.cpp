#include "runtime/packages/backend_with_packages.hpp"
#include "tests/runtime/packages/builder_fixture.hpp"

#include <sys/stat.h>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(local_requirements_suite)

struct fixture {
  scratch dir;
  fs::path shared = dir.path / "shared";
  environment_options options;
  prepared_run run;

  fixture() {
    fs::create_directories(shared);
    options.shared_dirs = {shared};
    run.organization = default_organization();
  }
  result<local_requirements> wishes_in(const fs::path& directory) {
    sandbox_config config;
    config.type = backend_kind::local;
    config.config = {{"sandbox_dir", directory.string()}, {"use_venv", true}};
    run.config = std::make_shared<const sandbox_config>(std::move(config));
    return requirements_of(run, options);
  }
  std::string why_not(const fs::path& directory) {
    auto required = wishes_in(directory);
    return required ? std::string{} : required.error().text;
  }
};

BOOST_FIXTURE_TEST_CASE(refuses_to_share_a_directory_nobody_allowed, fixture) {
  auto required = wishes_in("/etc");
  BOOST_REQUIRE(!required.has_value());
  BOOST_TEST((required.error().code == ec::denied));
}

BOOST_FIXTURE_TEST_CASE(tells_nobody_which_directories_the_host_has, fixture) {
  fs::create_directories(dir.path / "there");
  const auto there = (dir.path / "there").string();
  const auto absent = (dir.path / "lacks").string();
  auto why = why_not(there), not_there = why_not(absent);
  BOOST_REQUIRE(!why.empty() && !not_there.empty());
  why.replace(why.find(there), there.size(), absent);
  BOOST_TEST(why == not_there);
  // Letta's word for "none said", of whatever home it comes.
  auto usual = wishes_in("/root/.letta/tool_execution_dir");
  BOOST_REQUIRE(usual.has_value());
  BOOST_TEST(usual->mounts.empty());
}

BOOST_FIXTURE_TEST_CASE(ignores_the_standard_directory_where_nobody_shares_it,
                        fixture) {
  options.standard_dir = "/etc";
  auto required = wishes_in("/etc");
  BOOST_REQUIRE(required.has_value());
  BOOST_TEST(required->mounts.empty());
  BOOST_TEST(required->working_dir.empty());
  options.shared_dirs.push_back("/etc");
  required = wishes_in("/etc");
  BOOST_REQUIRE(required.has_value());
  BOOST_TEST(required->mounts.size() == 1u);
  BOOST_TEST(!required->mounts.at(0).writable);
}

BOOST_FIXTURE_TEST_CASE(follows_no_link_out_of_a_shared_directory, fixture) {
  fs::create_directory_symlink("/etc", shared / "link");
  BOOST_TEST(!wishes_in(shared / "link").has_value());
}

BOOST_FIXTURE_TEST_CASE(lets_an_organization_write_in_its_own_alone, fixture) {
  options.writable_dirs = {shared};
  auto other = organization_id::make();
  auto its = shared / other.str() / "below";
  fs::create_directories(its);
  fs::create_directories(shared / "ours");
  auto ours = wishes_in(shared / "ours");
  BOOST_REQUIRE(ours.has_value());
  BOOST_TEST(ours->mounts.at(0).writable);
  BOOST_TEST(!wishes_in(its).has_value());
  BOOST_TEST(!wishes_in(shared).has_value()); // the other one's lies below
  run.organization = other;
  auto theirs = wishes_in(its);
  BOOST_REQUIRE(theirs.has_value());
  BOOST_TEST(theirs->mounts.at(0).writable);
  BOOST_TEST(why_not(shared / "ours").find(other.str()) != std::string::npos);
  BOOST_TEST(!wishes_in(shared).has_value());
}

BOOST_FIXTURE_TEST_CASE(shows_nobody_what_others_write_from_above, fixture) {
  options.writable_dirs = {shared / "written"};
  run.organization = organization_id::make();
  fs::create_directories(shared / "written");
  fs::create_directories(shared / "read");
  BOOST_TEST(!wishes_in(shared).has_value());
  BOOST_TEST(wishes_in(shared / "read").has_value());
}

BOOST_FIXTURE_TEST_CASE(gives_a_single_tenant_all_that_is_writable, fixture) {
  options.writable_dirs = {shared};
  auto required = wishes_in(shared);
  BOOST_REQUIRE(required.has_value());
  BOOST_TEST(required->mounts.at(0).writable);
}

BOOST_FIXTURE_TEST_CASE(reads_requirements_txt_of_a_shared_directory, fixture) {
  std::ofstream{shared / "requirements.txt"}
    << "# ours\nrequests==2.31.0\n\nnumpy  # fast\n"
       "tomli; python_version < '3.11'\n";
  auto required = wishes_in(shared);
  BOOST_REQUIRE(required.has_value());
  auto& all = required->packages.pip;
  BOOST_REQUIRE(all.size() == 3u);
  BOOST_TEST(to_string(all[2]) == R"(tomli; python_version < "3.11")");
  BOOST_TEST(required->working_dir == fs::canonical(shared));
}

BOOST_FIXTURE_TEST_CASE(joins_requirements_txt_with_those_of_the_tool,
                        fixture) {
  std::ofstream{shared / "requirements.txt"} << "numpy>=1.26\n";
  run.pip_requirements = {pip("Numpy", "==1.26.4")};
  auto required = wishes_in(shared);
  BOOST_REQUIRE(required.has_value());
  BOOST_TEST(to_string(required->packages.pip.at(0)) == "numpy>=1.26,==1.26.4");
  std::ofstream{shared / "requirements.txt"} << "numpy==2.0\n";
  BOOST_TEST(why_not(shared).find("requirements.txt needs numpy==2.0")
             != std::string::npos);
}

// A tenant may write there, and see what we answer.
BOOST_FIXTURE_TEST_CASE(reads_no_requirements_through_a_link, fixture) {
  std::ofstream{dir.path / "secret"} << "root:$6$hash:19000\n";
  fs::create_symlink(dir.path / "secret", shared / "requirements.txt");
  auto why = why_not(shared);
  BOOST_TEST(why.find("link") != std::string::npos);
  BOOST_TEST(why.find("hash") == std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(does_not_wait_for_a_pipe_of_requirements, fixture) {
  BOOST_REQUIRE(::mkfifo((shared / "requirements.txt").c_str(), 0600) == 0);
  BOOST_TEST(!wishes_in(shared).has_value());
}

BOOST_FIXTURE_TEST_CASE(bounds_and_does_not_quote_requirements, fixture) {
  std::ofstream{shared / "requirements.txt"} << "numpy\n--secret-option\n";
  auto why = why_not(shared);
  BOOST_TEST(why.find("line 2") != std::string::npos);
  BOOST_TEST(why.find("secret") == std::string::npos);
  std::ofstream{shared / "requirements.txt"} << std::string(2 << 20, '#');
  BOOST_TEST(why_not(shared).find("1 MiB") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(uses_a_venv_of_the_user_beside_his_packages, fixture) {
  fs::create_directories(shared / "venv" / "bin");
  fs::create_symlink("/usr/bin/python3", shared / "venv" / "bin" / "python3");
  run.pip_requirements = {pip("numpy")};
  auto required = wishes_in(shared);
  BOOST_REQUIRE(required.has_value());
  BOOST_TEST(required->venv == (fs::canonical(shared) / "venv").string());
  BOOST_TEST(required->packages.pip.size() == 1u);
  run.lang = language::typescript; // no business of Node's
  required = wishes_in(shared);
  BOOST_REQUIRE(required.has_value());
  BOOST_TEST(required->venv.empty());
}

BOOST_AUTO_TEST_SUITE_END()
