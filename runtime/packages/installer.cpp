#include "runtime/packages/installer.hpp"

#include "runtime/json/json.hpp"
#include "runtime/packages/install_network.hpp"

#include <fstream>

namespace troupe {

namespace fs = std::filesystem;

namespace {

// $1: interpreter or "", $2: npm or "", $3: its registry or "", then options
// for pip. What to install stands in files of the staged directory. npm's own
// patience is two retries of five minutes each: whoever cannot reach its
// registry is told in a minute.
constexpr std::string_view script = R"(set -eu
umask 022
python=$1 npm=$2 registry=$3
shift 3
if [ -n "$python" ]; then
  "$python" -m venv --without-pip /env
  "$python" -m pip --python /env/bin/python3 install --no-input \
    --disable-pip-version-check --no-cache-dir --no-warn-script-location \
    --progress-bar off --report /env/pip-report.json \
    -r /env/requirements.txt "$@"
fi
if [ -n "$npm" ]; then
  cd /env
  "$npm" install --no-audit --no-fund --ignore-scripts --omit=dev \
    --no-update-notifier --loglevel=warn --fetch-timeout=20000 \
    --fetch-retries=2 --fetch-retry-mintimeout=500 \
    --fetch-retry-maxtimeout=2000 ${registry:+"--registry=$registry"}
fi
)";

/// `npm pack` names a scoped package's file scope-name-version.tgz.
std::string tarball_stem(const npm_requirement& r) {
  std::string stem;
  for (char c : r.name)
    if (c == '/')
      stem += '-';
    else if (c != '@')
      stem += c;
  return stem + "-";
}

/// Or "file:" and the tarball that the operator put there.
std::string npm_source(const npm_requirement& r, const fs::path& links) {
  std::error_code why;
  if (!links.empty())
    for (const auto& item : fs::directory_iterator{links, why}) {
      auto file = item.path().filename().string();
      auto stem = tarball_stem(r);
      auto exact = stem + r.version + ".tgz";
      if (file == exact
          || (r.version.empty() && file.starts_with(stem)
              && file.ends_with(".tgz")))
        return "file:" + item.path().string();
    }
  return r.version.empty() ? "*" : r.version;
}

result<void> write_file(const fs::path& file, const std::string& text) {
  std::ofstream out{file};
  out << text;
  if (!out.flush())
    return error{ec::exhausted,
                 "write " + file.filename().string() + ": disk full?",
                 {},
                 {}};
  return {};
}

std::vector<std::string> pip_options(const environment_options& options) {
  std::vector<std::string> out;
  if (!options.source_builds)
    out.insert(out.end(), {"--only-binary", ":all:"});
  if (!options.pip_index)
    out.emplace_back("--no-index");
  else if (!options.pip_index_url.empty())
    out.insert(out.end(), {"--index-url", options.pip_index_url});
  if (!options.pip_links.empty())
    out.insert(out.end(), {"--find-links", options.pip_links.string()});
  return out;
}

/// Reads what pip is to install. The options are for its command line.
result<void> ask_pip(const environment_spec& spec, const fs::path& staged,
                     const environment_options& options, prepared_run& run) {
  std::string lines;
  for (const auto& r : spec.pip)
    lines += to_string(r) + "\n";
  auto more = pip_options(options);
  run.argv.insert(run.argv.end(), more.begin(), more.end());
  return write_file(staged / "requirements.txt", lines);
}

result<void> ask_npm(const environment_spec& spec, const fs::path& staged,
                     const environment_options& options) {
  json::object dependencies;
  for (const auto& r : spec.npm)
    dependencies[r.name] = npm_source(r, options.npm_links);
  json::object package{{"private", true}};
  package["dependencies"] = std::move(dependencies);
  return write_file(staged / "package.json", json::to_text(package));
}

/// Mounts are opened without links on the way.
void show(prepared_run& run, const fs::path& directory) {
  std::error_code why;
  auto real = fs::weakly_canonical(directory, why);
  if (!directory.empty() && !why)
    run.mounts.push_back({real.string(), directory.string(), false});
}

limits build_limits(const environment_options& options) {
  limits l;
  l.wall = options.build_timeout;
  l.cpu = options.build_timeout;
  l.memory_bytes = options.build_memory_bytes;
  l.processes = 256;
  l.disk_bytes = options.build_memory_bytes / 2; // pip unpacks in /tmp
  l.inodes = 200'000;
  return l;
}

/// The best there is: whoever accepts less for runs accepts it here.
result<isolation_level> build_isolation(const environment_options& options) {
  if (options.isolation == isolation_level::off)
    return error{ec::denied,
                 "installing packages requires isolation, which is off; set "
                 "local.isolation = best-effort",
                 {},
                 {}};
  return options.isolation == isolation_level::best_effort
    ? isolation_level::best_effort
    : isolation_level::strict;
}

} // namespace

result<prepared_run> installation(const environment_spec& spec,
                                  const fs::path& staged,
                                  const environment_options& options) {
  prepared_run run;
  run.id = run_id::make();
  run.organization = spec.organization;
  run.kind = run_kind::command;
  run.lang = language::shell;
  run.name = "environment installer";
  run.argv = {"/bin/sh",
              "-c",
              std::string{script},
              "install",
              spec.pip.empty() ? "" : options.python,
              spec.npm.empty() ? "" : options.npm,
              options.npm_registry};
  if (!spec.pip.empty())
    if (auto asked = ask_pip(spec, staged, options, run); !asked)
      return asked.error();
  if (!spec.npm.empty())
    if (auto asked = ask_npm(spec, staged, options); !asked)
      return asked.error();
  auto isolation = build_isolation(options);
  if (!isolation)
    return isolation.error();
  run.isolation = *isolation;
  auto network = install_network(spec, options);
  if (!network)
    return network.error();
  run.network = std::move(*network);
  run.env.emplace("HOME", secret{"/tmp"});
  // npm is a script of the Node that stands beside it.
  run.env.emplace("PATH",
                  secret{fs::path{options.npm}.parent_path().string()
                         + ":/usr/local/bin:/usr/bin:/bin"});
  run.mounts.push_back({staged.string(), std::string{environment_home}, true});
  show(run, options.pip_links);
  show(run, options.npm_links);
  run.limits = build_limits(options);
  run.deadline = std::chrono::steady_clock::now() + options.build_timeout;
  return run;
}

} // namespace troupe
