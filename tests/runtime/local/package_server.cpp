#include "tests/runtime/local/package_server.hpp"

#include "tests/support/engine/waiting_observer.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <fstream>
#include <future>

namespace troupe::test {

namespace {

namespace fs = std::filesystem;

// A wheel is a zip file with three files of text beside the module.
constexpr std::string_view make_wheel = R"(
import sys, zipfile
place, version, value = sys.argv[1:]
info = f"tiny-{version}.dist-info/"
with zipfile.ZipFile(f"{place}/tiny-{version}-py3-none-any.whl", "w") as wheel:
    wheel.writestr("tiny.py", f"VALUE = {value}\n")
    wheel.writestr("tiny_start.pth", "import sys; sys.tiny_started = True\n")
    wheel.writestr(info + "METADATA",
                   f"Metadata-Version: 2.1\nName: tiny\nVersion: {version}\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\n"
                   "Root-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(info + "RECORD", "")
)";

void execute(const std::string& line) {
  BOOST_REQUIRE_MESSAGE(std::system(line.c_str()) == 0, line);
}

std::shared_ptr<backend> borrowed(local_host& host) {
  return {std::shared_ptr<void>{}, &host.backend()};
}

} // namespace

package_house::package_house() : shared_{dir_.path() / "shared"} {
  for (const char* name : {"wheels", "tarballs", "shared"})
    fs::create_directories(dir_.path() / name);
  options_.root = dir_.path() / "environments";
  options_.pip_index = false;
  options_.pip_links = dir_.path() / "wheels";
  options_.npm_links = dir_.path() / "tarballs";
  options_.network.mode = network_mode::off;
  options_.shared_dirs = {shared_};
  builder_
    = std::make_shared<environment_builder>(borrowed(cold_host()), options_);
  BOOST_REQUIRE(builder_->open().has_value());
  cold_
    = std::make_shared<environment_backend>(borrowed(cold_host()), builder_);
  warm_
    = std::make_shared<environment_backend>(borrowed(warm_host()), builder_);
}

package_house::~package_house() {
  builder_->stop();
}

void package_house::put_wheel(const std::string& value,
                              const std::string& version) {
  auto script = dir_.path() / "make_wheel.py";
  std::ofstream{script} << make_wheel;
  execute("/usr/bin/python3 " + script.string() + " "
          + options_.pip_links.string() + " " + version + " '" + value + "'");
}

void package_house::put_tarball(const std::string& value) {
  auto home = dir_.path() / "npm" / "package";
  fs::create_directories(home);
  std::ofstream{home / "package.json"}
    << R"({"name": "tiny-thing", "version": "1.2.0", "main": "index.js"})";
  std::ofstream{home / "index.js"} << "module.exports = " << value << ";\n";
  execute("tar -C " + home.parent_path().string() + " -czf "
          + (options_.npm_links / "tiny-thing-1.2.0.tgz").string()
          + " package");
}

run_outcome package_house::run_on(backend& by, prepared_run run) {
  auto seen = std::make_shared<waiting_observer>();
  run.id = run_id::make();
  by.start(std::make_shared<const prepared_run>(std::move(run)), seen);
  return seen->wait();
}

void package_house::renew(const prepared_run& like) {
  auto required = requirements_of(like, options_);
  BOOST_REQUIRE(required.has_value());
  std::promise<result<environment_lease_ptr>> done;
  builder_->renew(required->packages,
                  {.progress = {}, .finished = [&](auto lease) {
                     done.set_value(std::move(lease));
                   }});
  auto built = done.get_future().get();
  BOOST_REQUIRE_MESSAGE(built.has_value(), built.error().text);
}

prepared_run with_wheel(std::string source) {
  auto run = tool(std::move(source));
  run.pip_requirements = {{"tiny", {}, ""}};
  return run;
}

prepared_run with_tarball(std::string source) {
  auto run = tool(std::move(source), "{}", language::javascript);
  run.npm_requirements = {{"tiny-thing", "1.2.0"}};
  return run;
}

} // namespace troupe::test
