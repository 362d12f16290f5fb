#include "tests/runtime/local/warm/warm_pair.hpp"

#include <cstdlib>
#include <fstream>

namespace troupe::test {

local_host& warm_host() {
  return shared_host();
}

local_host& cold_host() {
  static auto* host = [] {
    local_options options;
    options.zygote.enabled = false;
    auto* made = new local_host{std::move(options)};
    std::atexit([] { delete &cold_host(); });
    return made;
  }();
  return *host;
}

prepared_run tool(std::string source, std::string args, language lang) {
  prepared_run run;
  run.kind = run_kind::source;
  run.lang = lang;
  run.organization = default_organization();
  run.name = run.function = "f";
  run.source = std::move(source);
  run.args_json = std::move(args);
  run.limits.wall = std::chrono::seconds{30};
  return run;
}

bool warm_is_ready(zygote::family of) {
  if (of == zygote::family::node)
    warm_host().run(tool("exports.f = () => 1", "{}", language::javascript));
  return eventually([of] {
    const auto now = warm_host().backend().slots(of);
    return now.zygotes > 0 && now.trouble.empty();
  });
}

boost::test_tools::assertion_result
has_warm_node(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result there{lacks_warm_node().empty()};
  there.message() << lacks_warm_node();
  return there;
}

local_host& warm_python() {
  BOOST_REQUIRE(warm_is_ready(zygote::family::python));
  return warm_host();
}

local_host& warm_node() {
  if (const auto why = lacks_warm_node(); !why.empty()) {
    BOOST_TEST_MESSAGE("cold instead of warm: " << why);
    return cold_host();
  }
  BOOST_REQUIRE(warm_is_ready(zygote::family::node));
  return warm_host();
}

std::size_t memory_of(pid_t process, std::string_view name) {
  std::ifstream lines{"/proc/" + std::to_string(process) + "/smaps_rollup"};
  std::size_t kilobytes = 0;
  for (std::string word; lines >> word;)
    if (word == name)
      lines >> kilobytes;
  return kilobytes;
}

std::string essence(const run_result& r) {
  std::string text = std::string{to_string(r.reason)} + " "
    + std::string{to_string(r.status)} + " " + std::to_string(r.exit_code) + " "
    + std::to_string(r.signal) + "\nvalue " + r.value_json + "\nout "
    + r.stdout_text + "\nerr " + r.stderr_text + "\nfailure " + r.failure.name
    + " " + r.failure.message + "\n" + r.failure.traceback;
  for (const auto& layer : r.isolation.layers)
    text += "\n" + layer.name + " " + std::string{to_string(layer.state)};
  return text;
}

} // namespace troupe::test
