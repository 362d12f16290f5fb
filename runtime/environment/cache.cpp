#include "runtime/environment/cache.hpp"

#include "runtime/json/json.hpp"
#include "runtime/json/reader.hpp"
#include "runtime/model/codec.hpp"

#include <fstream>
#include <sstream>

namespace troupe {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view staging_prefix = ".building-";
constexpr std::uintmax_t max_manifest_bytes = 1u << 20;

error failed(std::string_view what, const fs::path& path,
             const std::error_code& why) {
  return {ec::internal,
          std::string{what} + " " + path.filename().string() + ": "
            + why.message(),
          {},
          {}};
}

} // namespace

std::uint64_t tree_bytes(const fs::path& directory) {
  std::uint64_t sum = 0;
  std::error_code ignored;
  fs::recursive_directory_iterator i{directory, ignored}, end;
  while (i != end) {
    std::error_code entry_error;
    if (i->is_regular_file(entry_error) && !i->is_symlink(entry_error))
      sum += i->file_size(entry_error);
    i.increment(ignored);
    if (ignored)
      break;
  }
  return sum;
}

environment_cache::environment_cache(fs::path root, std::uint64_t max_bytes)
    : root_{std::move(root)}, max_bytes_{max_bytes} {}

fs::path environment_cache::directory(const key& k) const {
  return root_ / k.first.str() / k.second;
}

fs::path environment_cache::manifest(const key& k) const {
  return root_ / k.first.str() / (k.second + ".json");
}

result<void> environment_cache::open() {
  std::error_code why;
  fs::create_directories(root_, why);
  if (why)
    return failed("create", root_, why);
  std::lock_guard guard{mutex_};
  for (const auto& item : fs::directory_iterator{root_, why})
    if (item.is_directory())
      sweep(item.path());
  if (why)
    return failed("read", root_, why);
  return {};
}

void environment_cache::sweep(const fs::path& organization_dir) {
  std::error_code why;
  std::vector<fs::path> leftovers;
  for (const auto& item : fs::directory_iterator{organization_dir, why}) {
    auto path = item.path();
    if (path.extension() == ".json") {
      auto info = read_manifest(path);
      auto home = organization_dir / path.stem();
      if (info && fs::is_directory(home, why))
        entries_[{info->organization, info->fingerprint}].info = *info;
      else
        leftovers.push_back(path);
    } else if (!fs::exists(path.string() + ".json", why)) {
      leftovers.push_back(path);
    }
  }
  for (const auto& path : leftovers)
    fs::remove_all(path, why);
}

std::optional<environment_info>
environment_cache::read_manifest(const fs::path& file) const {
  std::error_code why;
  if (fs::file_size(file, why) > max_manifest_bytes || why)
    return {};
  std::ifstream in{file};
  std::ostringstream text;
  text << in.rdbuf();
  auto body = json::parse_object(text.str());
  if (!body)
    return {};
  json::reader from{*body};
  environment_info info;
  info.organization = organization_id{from.required_text("organization")};
  info.fingerprint = from.required_text("fingerprint");
  info.bytes = static_cast<std::uint64_t>(from.integer("bytes", 0).value_or(0));
  auto built = parse_timestamp(from.required_text("built_at"));
  if (auto* list = from.member_array("packages"))
    for (const auto& p : *list)
      if (p.is_string())
        info.packages.emplace_back(p.as_string());
  if (from.finish_lenient() || !built)
    return {};
  if (file.stem() != info.fingerprint
      || file.parent_path().filename() != info.organization.str())
    return {};
  info.built_at = *built;
  info.used_at = *built;
  return info;
}

result<void>
environment_cache::write_manifest(const environment_info& info) const {
  json::object body;
  body["organization"] = info.organization.str();
  body["fingerprint"] = info.fingerprint;
  body["bytes"] = info.bytes;
  body["built_at"] = to_text(info.built_at);
  json::array packages;
  for (const auto& p : info.packages)
    packages.emplace_back(p);
  body["packages"] = std::move(packages);
  auto file = manifest({info.organization, info.fingerprint});
  auto draft = file;
  draft += ".new";
  {
    std::ofstream out{draft};
    out << json::to_text(body) << "\n";
    if (!out.flush())
      return error{
        ec::exhausted, "write an environment's manifest: disk full?", {}, {}};
  }
  std::error_code why;
  fs::rename(draft, file, why);
  if (why)
    return failed("write", file, why);
  return {};
}

environment_lease_ptr
environment_cache::lease(const organization_id& organization,
                         const std::string& fingerprint) {
  std::lock_guard guard{mutex_};
  auto i = entries_.find({organization, fingerprint});
  if (i == entries_.end())
    return nullptr;
  i->second.info.used_at = now();
  if (auto held = i->second.in_use.lock())
    return held;
  auto fresh = std::make_shared<environment_lease>(
    environment_lease{directory(i->first), fingerprint});
  i->second.in_use = fresh;
  return fresh;
}

result<fs::path> environment_cache::stage(const organization_id& organization,
                                          const std::string& fingerprint) {
  auto path = root_ / organization.str()
    / (std::string{staging_prefix} + fingerprint + "-" + make_uuid());
  std::error_code why;
  fs::create_directories(path, why);
  if (why)
    return failed("create", path, why);
  return path;
}

result<environment_lease_ptr> environment_cache::commit(const fs::path& staged,
                                                        environment_info info) {
  key k{info.organization, info.fingerprint};
  info.bytes = tree_bytes(staged);
  info.built_at = info.used_at = now();
  {
    std::lock_guard guard{mutex_};
    std::error_code why;
    if (!entries_.contains(k))
      fs::remove_all(directory(k), why); // of a build without a manifest
    fs::rename(staged, directory(k), why);
    if (why)
      return failed("finish", staged, why);
    if (auto written = write_manifest(info); !written)
      return written.error();
    entries_[k].info = std::move(info);
    evict_beyond_bound(k);
  }
  return lease(k.first, k.second);
}

void environment_cache::discard(const fs::path& staged) {
  std::error_code ignored;
  fs::remove_all(staged, ignored);
}

bool environment_cache::remove_entry(const key& k) {
  auto i = entries_.find(k);
  if (i == entries_.end() || !i->second.in_use.expired())
    return false;
  // The manifest first: without it the rest is swept at the next start.
  std::error_code ignored;
  fs::remove(manifest(k), ignored);
  fs::remove_all(directory(k), ignored);
  entries_.erase(i);
  return true;
}

bool environment_cache::remove(const organization_id& organization,
                               const std::string& fingerprint) {
  std::lock_guard guard{mutex_};
  return remove_entry({organization, fingerprint});
}

void environment_cache::evict_beyond_bound(const key& keep) {
  std::uint64_t sum = 0;
  std::vector<std::pair<timestamp, key>> oldest_first;
  for (const auto& [k, e] : entries_) {
    sum += e.info.bytes;
    if (k != keep && e.in_use.expired())
      oldest_first.emplace_back(e.info.used_at, k);
  }
  std::sort(oldest_first.begin(), oldest_first.end());
  for (const auto& [when, k] : oldest_first) {
    if (sum <= max_bytes_)
      return;
    sum -= entries_[k].info.bytes;
    remove_entry(k);
  }
}

std::vector<environment_info>
environment_cache::list(const organization_id& organization) const {
  std::lock_guard guard{mutex_};
  std::vector<environment_info> out;
  for (const auto& [k, e] : entries_)
    if (k.first == organization)
      out.push_back(e.info);
  return out;
}

std::uint64_t environment_cache::bytes() const {
  std::lock_guard guard{mutex_};
  std::uint64_t sum = 0;
  for (const auto& [k, e] : entries_)
    sum += e.info.bytes;
  return sum;
}

} // namespace troupe
