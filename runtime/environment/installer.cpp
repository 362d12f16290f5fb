#include "runtime/environment/installer.hpp"

#include "runtime/json/json.hpp"

#include <fstream>
#include <sstream>

namespace troupe {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t max_report_bytes = 16u << 20;
constexpr std::size_t max_packages = 2'000;

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
  if (!options.pip_index_url.empty())
    out.insert(out.end(), {"--index-url", options.pip_index_url});
  if (!options.pip_links.empty())
    out.insert(out.end(), {"--find-links", options.pip_links.string()});
  return out;
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
  if (!spec.pip.empty()) {
    std::string lines;
    for (const auto& r : spec.pip)
      lines += to_string(r) + "\n";
    if (auto w = write_file(staged / "requirements.txt", lines); !w)
      return w.error();
    auto more = pip_options(options);
    run.argv.insert(run.argv.end(), more.begin(), more.end());
  }
  if (!spec.npm.empty()) {
    json::object dependencies;
    for (const auto& r : spec.npm)
      dependencies[r.name] = npm_source(r, options.npm_links);
    json::object package{{"private", true}};
    package["dependencies"] = std::move(dependencies);
    if (auto w = write_file(staged / "package.json", json::to_text(package));
        !w)
      return w.error();
  }
  run.env.emplace("HOME", secret{"/tmp"});
  run.env.emplace("PATH", secret{"/usr/local/bin:/usr/bin:/bin"});
  run.mounts.push_back({staged.string(), std::string{environment_home}, true});
  for (const auto& links : {options.pip_links, options.npm_links})
    if (!links.empty())
      run.mounts.push_back({links.string(), links.string(), false});
  run.limits.wall = options.build_timeout;
  run.limits.cpu = options.build_timeout;
  run.limits.memory_bytes = options.build_memory_bytes;
  run.limits.processes = 256;
  run.limits.disk_bytes = options.build_memory_bytes / 2; // pip unpacks in /tmp
  run.limits.inodes = 200'000;
  run.network = options.network;
  run.isolation = isolation_level::strict;
  run.deadline = std::chrono::steady_clock::now() + options.build_timeout;
  return run;
}

std::vector<std::string> installed_packages(const fs::path& directory) {
  std::vector<std::string> out;
  std::error_code why;
  auto file = directory / "pip-report.json";
  // The directory was writable for package code: a link is not followed.
  if (!fs::is_regular_file(fs::symlink_status(file, why))
      || fs::file_size(file, why) > max_report_bytes)
    return out;
  std::ifstream in{file};
  std::ostringstream text;
  text << in.rdbuf();
  auto report = json::parse(text.str());
  if (!report || !report->is_object())
    return out;
  auto* list = report->as_object().if_contains("install");
  if (!list || !list->is_array())
    return out;
  for (const auto& item : list->as_array()) {
    if (out.size() == max_packages)
      break;
    boost::system::error_code missing;
    auto* name = item.find_pointer("/metadata/name", missing);
    auto* version = item.find_pointer("/metadata/version", missing);
    auto* hash
      = item.find_pointer("/download_info/archive_info/hashes/sha256", missing);
    if (!hash)
      hash = item.find_pointer("/download_info/archive_info/hash", missing);
    if (!name || !name->is_string() || !version || !version->is_string())
      continue;
    std::string line{name->as_string()};
    line += "==" + std::string{version->as_string()};
    if (hash && hash->is_string())
      line += " " + std::string{hash->as_string()};
    out.push_back(line.substr(0, 256));
  }
  return out;
}

} // namespace troupe
