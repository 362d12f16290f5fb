#include "tests/runtime/local/package_server.hpp"

#include <boost/test/unit_test.hpp>

#include <fstream>
#include <map>

namespace troupe::test {

BOOST_AUTO_TEST_SUITE(real_environments)

namespace {

namespace fs = std::filesystem;

constexpr const char* plain_python
  = "def f():\n    import tiny\n    return tiny.VALUE";
constexpr const char* plain_node = "exports.f = () => require('tiny-thing')";

std::string value_of(const run_outcome& outcome) {
  if (!outcome.answer)
    return outcome.answer.error().text;
  const auto& r = *outcome.answer;
  return r.status == run_status::success ? r.value_json
                                         : std::string{to_string(r.reason)}
      + " " + r.detail + r.failure.message + r.stderr_text;
}

/// What a process with packages of its own may look at.
const std::map<std::string, std::string> ways{
  {"a package", plain_python},
  {"where it is",
   "import sys\ndef f():\n"
   "    return [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.executable,"
   " sys.path, list(sys.flags)]"},
  {"where things belong",
   "def f():\n    import site, sysconfig\n"
   "    return [sysconfig.get_path('purelib'), site.getsitepackages(),"
   " site.PREFIXES, site.ENABLE_USER_SITE]"},
  {"whose module it is",
   "def f():\n    import tiny\n    from importlib import metadata\n"
   "    return [tiny.__file__, metadata.version('tiny'),"
   " sorted(d.metadata['Name'] for d in metadata.distributions())]"},
  {"a file that starts with it",
   "import sys\ndef f():\n    return sys.tiny_started"},
  {"packages of the host", "import pydantic\ndef f():\n    return 1"},
  {"a child of its own",
   "import subprocess, sys\ndef f():\n"
   "    return subprocess.run([sys.executable, '-c', 'import tiny, sys;"
   " print(tiny.VALUE, sys.prefix)'], capture_output=True, text=True).stdout"},
  {"a program by its name",
   "import shutil\ndef f():\n    return shutil.which('python3')"},
  {"its environment",
   "import os\ndef f():\n    return sorted(os.environ.items())"},
  {"an exception", "def f():\n    import tiny\n    raise ValueError(tiny)"},
  {"how it says good bye", "def f():\n    print(exit, quit)\n    exit(3)"}};

} // namespace

BOOST_AUTO_TEST_CASE(installs_wheels_and_tarballs_and_runs_with_them) {
  TROUPE_NEEDS("user_namespace");
  package_house house;
  house.put_wheel("42");
  house.put_tarball("'forty-two'");
  auto python = house.cold(with_wheel(plain_python));
  BOOST_TEST(value_of(python) == "42");
  BOOST_REQUIRE(python.answer.has_value());
  BOOST_TEST(python.answer->package_set.size() == 64u);
  BOOST_TEST(value_of(house.cold(with_tarball(plain_node)))
             == R"("forty-two")");
  auto command = shell("python3 -c 'import tiny; print(tiny.VALUE)'");
  command.organization = default_organization();
  command.pip_requirements = with_wheel("").pip_requirements;
  auto said = house.cold(command);
  BOOST_REQUIRE(said.answer.has_value());
  BOOST_TEST(said.answer->stdout_text == "42\n", said.answer->stderr_text);
}

BOOST_AUTO_TEST_CASE(tells_what_the_installers_say_when_they_fail) { // C12
  package_house house;
  auto python = house.cold(with_wheel(plain_python));
  BOOST_REQUIRE(!python.answer.has_value());
  BOOST_TEST((python.answer.error().code == ec::invalid_request));
  BOOST_TEST(
    python.answer.error().text.find("No matching distribution found for tiny")
      != std::string::npos,
    python.answer.error().text);
  BOOST_TEST(!python.may_have_started);
  auto node = house.cold(with_tarball(plain_node));
  BOOST_REQUIRE(!node.answer.has_value());
  BOOST_TEST(node.answer.error().text.find("npm") != std::string::npos,
             node.answer.error().text);
}

BOOST_AUTO_TEST_CASE(carries_runs_with_packages_warm_as_it_does_cold) {
  TROUPE_NEEDS("user_namespace");
  package_house house;
  house.put_wheel("42");
  auto& backend = warm_host().backend();
  house.warm(with_wheel(plain_python)); // the first asks for an interpreter
  BOOST_REQUIRE(eventually([&] {
    auto now = backend.slots_of_venvs();
    return now.zygotes > 0 && now.trouble.empty();
  }));
  for (auto level : {isolation_level::standard, isolation_level::strict})
    for (const auto& [name, source] : ways)
      BOOST_TEST_CONTEXT(name << ", " << to_string(level)) {
        auto run = with_wheel(source);
        run.isolation = level;
        auto before = backend.slots_of_venvs().runs;
        auto warm = house.warm(run);
        auto cold = house.cold(run);
        BOOST_REQUIRE(warm.answer.has_value());
        BOOST_REQUIRE(cold.answer.has_value());
        BOOST_TEST(backend.slots_of_venvs().runs > before); // really warm
        BOOST_TEST(essence(*warm.answer) == essence(*cold.answer));
      }
  BOOST_TEST(value_of(house.warm(with_wheel(plain_python))) == "42");
}

BOOST_AUTO_TEST_CASE(shows_what_was_built_last_to_warm_runs_as_well) {
  TROUPE_NEEDS("user_namespace");
  package_house house;
  house.put_wheel("1");
  house.put_tarball("1");
  const auto python = with_wheel(plain_python);
  const auto node = with_tarball(plain_node);
  for (int i = 0; i < 3; ++i) { // the later ones in slots that stay
    BOOST_TEST(value_of(house.warm(python)) == "1");
    BOOST_TEST(value_of(house.warm(node)) == "1");
  }
  house.put_wheel("2");
  house.put_tarball("2");
  house.renew(python);
  house.renew(node);
  BOOST_TEST(value_of(house.warm(python)) == "2");
  BOOST_TEST(value_of(house.warm(node)) == "2");
}

BOOST_AUTO_TEST_CASE(keeps_the_venv_of_a_user_and_adds_the_packages) {
  TROUPE_NEEDS("user_namespace");
  package_house house;
  house.put_wheel("42");
  auto venv = house.shared() / "venv";
  BOOST_REQUIRE(
    std::system(
      ("/usr/bin/python3 -m venv --without-pip " + venv.string()).c_str())
    == 0);
  for (const auto& lib : fs::directory_iterator{venv / "lib"})
    std::ofstream{lib.path() / "site-packages" / "own.py"} << "VALUE = 1\n";
  auto run
    = with_wheel("import os, sys\ndef f():\n    import own, tiny\n"
                 "    return [own.VALUE, tiny.VALUE, sys.prefix == "
                 "os.environ['VIRTUAL_ENV'],"
                 " os.environ['PATH'].split(':')[1] == sys.prefix + '/bin']");
  auto config = std::make_shared<sandbox_config>();
  config->config
    = {{"sandbox_dir", house.shared().string()}, {"use_venv", true}};
  run.config = config;
  BOOST_TEST(value_of(house.cold(run)) == "[1,42,true,true]");
  BOOST_TEST(value_of(house.warm(run)) == "[1,42,true,true]");
  run.pip_requirements.clear();
  run.source = "import os, sys\ndef f():\n    import own\n"
               "    return [own.VALUE, os.environ['PATH'].split(':')[0]"
               " == sys.prefix + '/bin']";
  BOOST_TEST(value_of(house.warm(run)) == "[1,true]");
}

BOOST_AUTO_TEST_CASE(hands_markers_of_requirements_txt_on_to_pip) {
  TROUPE_NEEDS("user_namespace");
  package_house house;
  house.put_wheel("42");
  std::ofstream{house.shared() / "requirements.txt"}
    << "tiny; python_version >= '3'\nabsent-thing; python_version < '3'\n";
  auto run = tool(plain_python);
  auto config = std::make_shared<sandbox_config>();
  config->config
    = {{"sandbox_dir", house.shared().string()}, {"use_venv", true}};
  run.config = config;
  BOOST_TEST(value_of(house.cold(run)) == "42");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::test
