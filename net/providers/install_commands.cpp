#include "net/providers/install_commands.hpp"

namespace troupe::net {

std::vector<std::vector<std::string>> installers(const prepared_run& run,
                                                 const std::string& folder) {
  std::vector<std::vector<std::string>> out;
  auto shell = run.kind == run_kind::command;
  if (!run.pip_requirements.empty()
      && (shell || run.lang == language::python)) {
    std::vector<std::string> pip{"python3",    "-m",
                                 "pip",        "install",
                                 "--no-input", "--disable-pip-version-check"};
    if (!folder.empty())
      pip.insert(pip.end(), {"--target", folder});
    pip.push_back("--");
    for (const auto& r : run.pip_requirements)
      pip.push_back(to_string(r));
    out.push_back(std::move(pip));
  }
  if (!run.npm_requirements.empty()
      && (shell || run.lang != language::python)) {
    std::vector<std::string> npm{"npm",       "install",          "--no-audit",
                                 "--no-fund", "--ignore-scripts", "--"};
    for (const auto& r : run.npm_requirements)
      npm.push_back(to_string(r));
    out.push_back(std::move(npm));
  }
  return out;
}

command_request command_of(const prepared_run& run) {
  command_request c;
  c.argv = run.argv;
  if (c.argv.empty())
    c.argv = {"/bin/sh", "-c", run.command};
  c.input = run.stdin_text;
  return c;
}

} // namespace troupe::net
