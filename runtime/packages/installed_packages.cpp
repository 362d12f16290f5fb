#include "runtime/packages/installed_packages.hpp"

#include "runtime/json/json.hpp"

#include <fstream>
#include <sstream>

namespace troupe {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t max_report_bytes = 16u << 20;
constexpr std::size_t max_packages = 2'000;
constexpr std::size_t max_package_line = 256;

/// Empty for what is no object, too large, or a link: the directory was
/// writable for package code.
json::object read_report(const fs::path& file) {
  std::error_code why;
  if (!fs::is_regular_file(fs::symlink_status(file, why))
      || fs::file_size(file, why) > max_report_bytes)
    return {};
  std::ifstream in{file};
  std::ostringstream text;
  text << in.rdbuf();
  auto report = json::parse_object(text.str());
  return report ? std::move(*report) : json::object{};
}

void add_line(std::vector<std::string>& out, std::string_view name,
              std::string_view separator, const json::value* version,
              const json::value* hash) {
  if (!version || !version->is_string() || out.size() == max_packages)
    return;
  auto line = std::string{name} + std::string{separator}
    + std::string{version->as_string()};
  if (hash && hash->is_string())
    line += " " + std::string{hash->as_string()};
  out.push_back(line.substr(0, max_package_line));
}

void add_pip_packages(const json::object& report,
                      std::vector<std::string>& out) {
  auto* list = report.if_contains("install");
  if (!list || !list->is_array())
    return;
  for (const auto& item : list->as_array()) {
    boost::system::error_code missing;
    auto* name = item.find_pointer("/metadata/name", missing);
    auto* version = item.find_pointer("/metadata/version", missing);
    auto* hash
      = item.find_pointer("/download_info/archive_info/hashes/sha256", missing);
    if (!hash)
      hash = item.find_pointer("/download_info/archive_info/hash", missing);
    if (name && name->is_string())
      add_line(out, std::string_view{name->as_string()}, "==", version, hash);
  }
}

/// The lock file's keys are places: "node_modules/a/node_modules/@scope/b".
void add_npm_packages(const json::object& lock, std::vector<std::string>& out) {
  constexpr std::string_view place = "node_modules/";
  auto* list = lock.if_contains("packages");
  if (!list || !list->is_object())
    return;
  for (const auto& [key, about] : list->as_object()) {
    std::string_view name{key};
    auto last = name.rfind(place);
    if (last == name.npos || !about.is_object())
      continue;
    add_line(out, name.substr(last + place.size()), "@",
             about.as_object().if_contains("version"),
             about.as_object().if_contains("integrity"));
  }
}

} // namespace

std::vector<std::string> installed_packages(const fs::path& directory) {
  std::vector<std::string> out;
  add_pip_packages(read_report(directory / "pip-report.json"), out);
  add_npm_packages(read_report(directory / "package-lock.json"), out);
  return out;
}

} // namespace troupe
