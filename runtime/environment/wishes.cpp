#include "runtime/environment/environment_backend.hpp"

#include <sys/stat.h>

#include <algorithm>

namespace troupe {

namespace fs = std::filesystem;

namespace {

bool is_below(const fs::path& path, const std::vector<fs::path>& roots) {
  for (const auto& root : roots) {
    std::error_code why;
    auto real = fs::weakly_canonical(root, why);
    if (why || real.empty())
      continue;
    auto ends
      = std::mismatch(real.begin(), real.end(), path.begin(), path.end());
    if (ends.first == real.end())
      return true;
  }
  return false;
}

bool is_one_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".."
    && name.find('/') == std::string::npos
    && name.find(char{}) == std::string::npos;
}

/// Stands for the interpreter's version without starting it: an upgraded one
/// is another file.
std::string version_mark(const std::string& interpreter) {
  struct stat s {};
  if (::stat(interpreter.c_str(), &s) != 0)
    return "absent";
  return std::to_string(s.st_ino) + "." + std::to_string(s.st_size) + "."
    + std::to_string(s.st_mtim.tv_sec);
}

/// A venv of the user's own in the shared directory is used as it is; else its
/// requirements.txt joins the tool's and the config's.
result<void> find_venv(const fs::path& directory, const local_config& config,
                       local_wishes& wishes) {
  if (!is_one_name(config.venv_name))
    return bad_field("/config/venv_name", "is not a directory's name",
                     "give one name without '/'");
  std::error_code why;
  auto own = directory / config.venv_name / "bin" / "python3";
  if (fs::exists(own, why)) {
    wishes.interpreter = own.string();
    return {};
  }
  auto listed = read_requirements_file(directory / "requirements.txt");
  if (!listed)
    return listed.error();
  auto merged = merge(*listed, wishes.packages.pip);
  if (!merged)
    return merged.error();
  wishes.packages.pip = std::move(*merged);
  return {};
}

result<void> share_directory(const local_config& config,
                             const environment_options& options,
                             local_wishes& wishes) {
  std::error_code why;
  auto real = fs::canonical(config.sandbox_dir, why);
  if (why || !fs::is_directory(real, why))
    return {}; // nothing there: the run has its private directory
  const auto shared = is_below(real, options.shared_dirs);
  if (!shared && config.sandbox_dir == options.standard_dir)
    return {}; // the engine's word for "none said"
  if (!shared)
    return error{ec::denied,
                 "sandbox_dir '" + config.sandbox_dir
                   + "' is not below a directory that this engine shares; an "
                     "operator can add it to local.shared-dirs",
                 {},
                 {}};
  auto writable = is_below(real, options.writable_dirs);
  wishes.mounts.push_back({real.string(), real.string(), writable});
  wishes.working_dir = real.string();
  if (!config.use_venv)
    return {};
  return find_venv(real, config, wishes);
}

} // namespace

environment_spec spec_of(const organization_id& organization,
                         std::vector<pip_requirement> pip,
                         std::vector<npm_requirement> npm,
                         const environment_options& options) {
  environment_spec spec;
  spec.organization = organization;
  spec.pip = std::move(pip);
  spec.npm = std::move(npm);
  if (!spec.pip.empty()) {
    spec.python = options.python;
    spec.python_version = version_mark(options.python);
  }
  return spec;
}

result<local_wishes> wishes_of(const prepared_run& run,
                               const environment_options& options) {
  local_wishes wishes;
  auto shell = run.lang == language::shell || run.kind == run_kind::command;
  if (run.lang == language::python || shell)
    wishes.packages.pip = run.pip_requirements;
  if (run.lang != language::python)
    wishes.packages.npm = run.npm_requirements;
  const auto& stored = config_of(run);
  if (stored.type == backend_kind::local && !stored.config.empty()) {
    auto config = as_local(stored.config);
    if (!config)
      return config.error();
    if (!config->sandbox_dir.empty())
      if (auto shared = share_directory(*config, options, wishes); !shared)
        return shared.error();
  }
  wishes.packages = spec_of(run.organization, std::move(wishes.packages.pip),
                            std::move(wishes.packages.npm), options);
  return wishes;
}

} // namespace troupe
