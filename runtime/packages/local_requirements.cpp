#include "runtime/base/open_no_symlinks.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/model/package_requirement_merge.hpp"
#include "runtime/packages/backend_with_packages.hpp"
#include "runtime/packages/shared_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>

namespace troupe {

namespace fs = std::filesystem;

namespace {

bool names_organization(const fs::path& name) {
  return organization_id::parse(name.string()).has_value();
}

bool holds_others(const fs::path& root) {
  std::error_code why;
  for (const auto& item : fs::directory_iterator{root, why})
    if (auto name = item.path().filename();
        names_organization(name) && name != default_organization().str())
      return true;
  return false;
}

/// Whether a writable root is to be seen in `path`, or is it. That is for the
/// default organization, as long as it is the only one that writes there.
bool shows_others(const fs::path& path, const environment_options& options,
                  const organization_id& organization) {
  return std::ranges::any_of(options.writable_dirs, [&](const fs::path& root) {
    std::error_code why;
    auto real = fs::weakly_canonical(root, why);
    return part_below(real, {path})
      && (organization != default_organization() || holds_others(real));
  });
}

/// A writable directory is one organization's: that which its name says, and
/// the default one's where there is no such name.
bool is_owned(const fs::path& below_root, const organization_id& organization) {
  auto first = *below_root.begin();
  return names_organization(first) ? first == organization.str()
                                   : organization == default_organization();
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

/// Whether somebody's venv stands there. What it leads to is looked at inside
/// of the run only.
bool is_venv(const fs::path& venv) {
  unique_fd programs{isolation::open_exactly((venv / "bin").c_str())};
  struct stat about {};
  return programs
    && ::fstatat(programs.get(), "python3", &about, AT_SYMLINK_NOFOLLOW) == 0;
}

/// A venv of the user's own in the shared directory is used as it is; else its
/// requirements.txt joins the tool's and the config's.
result<void> find_venv(const fs::path& directory, const local_config& config,
                       local_requirements& required) {
  if (!is_one_name(config.venv_name))
    return bad_field("/config/venv_name", "is not a directory name",
                     "use a single name without '/'");
  auto own = directory / config.venv_name;
  if (is_venv(own)) {
    required.venv = own.string();
    return {};
  }
  auto listed = read_requirements_file(directory);
  if (!listed)
    return listed.error();
  auto merged = merge(*listed, "requirements.txt", required.packages.pip,
                      "the tool or its sandbox config");
  if (!merged)
    return merged.error();
  required.packages.pip = std::move(*merged);
  return {};
}

error not_shared(const std::string& directory, std::string_view why) {
  return {ec::denied,
          "sandbox_dir '" + directory + "' is " + std::string{why},
          {},
          {}};
}

/// The engine's word for "none said", or that of an engine with another home:
/// what Letta puts into every config.
bool is_standard(const std::string& directory,
                 const environment_options& options) {
  constexpr std::string_view usual = "/.letta/tool_execution_dir";
  return directory == options.standard_dir.native()
    || directory.ends_with(usual);
}

result<void> share_directory(const prepared_run& run,
                             const local_config& config,
                             const environment_options& options, bool python,
                             local_requirements& required) {
  const bool standard = is_standard(config.sandbox_dir, options);
  // Nearly every run: nobody needs to look at the disk for it.
  if (options.shared_dirs.empty() && standard)
    return {};
  using enum shared_place::answer;
  const auto place = find_shared(config.sandbox_dir, options.shared_dirs);
  if (place.is == absent || (place.is == outside && standard))
    return {}; // the run has its private directory
  // In the same words whether it is there or not.
  if (place.is == outside)
    return not_shared(
      config.sandbox_dir,
      "not below a directory in local.shared-dirs; an operator can add it");
  const auto& real = place.real;
  auto writable = part_below(real, options.writable_dirs);
  if (shows_others(real, options, run.organization)
      || (writable && !is_owned(*writable, run.organization)))
    return not_shared(config.sandbox_dir,
                      "not in this organization's subdirectory of a writable "
                      "directory, which is named "
                        + run.organization.str());
  required.mounts.push_back(
    {real.string(), real.string(), writable.has_value()});
  required.working_dir = real.string();
  if (!config.use_venv || !python)
    return {};
  return find_venv(real, config, required);
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
    spec.source = options.pip_index_url + " " + options.pip_links.string()
      + (options.pip_index ? " index" : "")
      + (options.source_builds ? " source" : "");
  }
  if (!spec.npm.empty()) {
    spec.node_version = version_mark(options.node);
    spec.source
      += " " + options.npm_registry + " " + options.npm_links.string();
  }
  return spec;
}

result<local_requirements> requirements_of(const prepared_run& run,
                                           const environment_options& options) {
  local_requirements required;
  auto shell = run.lang == language::shell || run.kind == run_kind::command;
  if (run.lang == language::python || shell)
    required.packages.pip = run.pip_requirements;
  if (run.lang != language::python)
    required.packages.npm = run.npm_requirements;
  const auto& stored = config_of(run);
  if (stored.type == backend_kind::local && !stored.config.empty()) {
    auto config = as_local(stored.config);
    if (!config)
      return config.error();
    if (!config->sandbox_dir.empty())
      if (auto shared
          = share_directory(run, *config, options,
                            run.lang == language::python || shell, required);
          !shared)
        return shared.error();
  }
  required.packages
    = spec_of(run.organization, std::move(required.packages.pip),
              std::move(required.packages.npm), options);
  return required;
}

} // namespace troupe
