#include "runtime/sandboxes/install_commands.hpp"

namespace troupe {

std::vector<std::vector<std::string>> installers(const sandbox_request& wanted,
                                                 const std::string& folder) {
  std::vector<std::vector<std::string>> out;
  auto shell = wanted.kind == run_kind::command;
  if (!wanted.pip_requirements.empty()
      && (shell || wanted.lang == language::python)) {
    std::vector<std::string> pip{"python3",    "-m",
                                 "pip",        "install",
                                 "--no-input", "--disable-pip-version-check"};
    if (!folder.empty())
      pip.insert(pip.end(), {"--target", folder});
    pip.push_back("--");
    for (const auto& r : wanted.pip_requirements)
      pip.push_back(to_string(r));
    out.push_back(std::move(pip));
  }
  if (!wanted.npm_requirements.empty()
      && (shell || wanted.lang != language::python)) {
    std::vector<std::string> npm{"npm",       "install",          "--no-audit",
                                 "--no-fund", "--ignore-scripts", "--"};
    for (const auto& r : wanted.npm_requirements)
      npm.push_back(to_string(r));
    out.push_back(std::move(npm));
  }
  return out;
}

} // namespace troupe
