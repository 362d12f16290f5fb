#include "runtime/packages/cache.hpp"

#include "runtime/base/private_directory.hpp"
#include "runtime/json/json.hpp"
#include "runtime/json/reader.hpp"
#include "runtime/model/codec/codec.hpp"
#include "runtime/packages/disk_usage.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <set>
#include <sstream>

namespace troupe {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view staging_prefix = ".building-";
constexpr std::string_view lock_name = ".lock";
constexpr std::uintmax_t max_manifest_bytes = 1u << 20;

error failed(std::string_view what, const fs::path& path,
             const std::error_code& why) {
  return {ec::internal,
          std::string{what} + " " + path.filename().string() + ": "
            + why.message(),
          {},
          {}};
}

timestamp time_of(const fs::path& file) {
  struct stat about {};
  if (::stat(file.c_str(), &about) != 0)
    return {};
  auto since = std::chrono::seconds{about.st_mtim.tv_sec}
    + std::chrono::nanoseconds{about.st_mtim.tv_nsec};
  return timestamp{
    std::chrono::duration_cast<std::chrono::microseconds>(since)};
}

void set_time(const fs::path& file, timestamp when) {
  auto since = when.time_since_epoch();
  auto whole = std::chrono::floor<std::chrono::seconds>(since);
  timespec then{
    whole.count(),
    std::chrono::duration_cast<std::chrono::nanoseconds>(since - whole)
      .count()};
  const timespec both[] = {then, then};
  ::utimensat(AT_FDCWD, file.c_str(), both, 0);
}

} // namespace

environment_cache::environment_cache(fs::path root, std::uint64_t max_bytes)
    : root_{std::move(root)}, max_bytes_{max_bytes} {}

fs::path environment_cache::manifest(const key& k) const {
  return root_ / k.first.str() / (k.second + ".json");
}

result<void> environment_cache::open() {
  if (auto made = make_private_directory(root_); !made)
    return made.error();
  std::error_code why;
  root_ = fs::canonical(root_, why); // mounts are opened without links
  if (why)
    return failed("read", root_, why);
  auto lock = root_ / lock_name;
  lock_.reset(
    ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock_)
    return failed("open", lock, {errno, std::generic_category()});
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0)
    return error{ec::conflict,
                 "another engine uses " + root_.string()
                   + "; connect to it with --server, or use another data "
                     "directory",
                 {},
                 {}};
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
  std::set<fs::path> leftovers;
  for (const auto& item : fs::directory_iterator{organization_dir, why})
    leftovers.insert(item.path());
  auto all = leftovers;
  for (const auto& path : all) {
    if (path.extension() != ".json")
      continue;
    auto found = read_manifest(path);
    if (!found || !fs::is_directory(found->directory, why))
      continue;
    leftovers.erase(path);
    leftovers.erase(found->directory);
    key k{found->info.organization, found->info.fingerprint};
    entries_[k] = std::move(*found);
  }
  for (const auto& path : leftovers)
    fs::remove_all(path, why);
}

std::optional<environment_cache::entry>
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
  entry e;
  auto& info = e.info;
  info.organization = organization_id{from.required_text("organization")};
  info.fingerprint = from.required_text("fingerprint");
  info.bytes = static_cast<std::uint64_t>(from.integer("bytes", 0).value_or(0));
  auto built = parse_timestamp(from.required_text("built_at"));
  auto name = from.required_text("directory");
  if (auto* list = from.member_array("packages"))
    for (const auto& p : *list)
      if (p.is_string())
        info.packages.emplace_back(p.as_string());
  if (from.finish_lenient() || !built)
    return {};
  if (file.stem() != info.fingerprint
      || file.parent_path().filename() != info.organization.str())
    return {};
  if (fs::path{name}.filename() != name || !name.starts_with(info.fingerprint))
    return {};
  e.directory = file.parent_path() / name;
  info.built_at = *built;
  info.used_at = std::max(*built, time_of(file));
  return e;
}

result<void> environment_cache::write_manifest(const entry& e) const {
  const auto& info = e.info;
  json::object body;
  body["organization"] = info.organization.str();
  body["fingerprint"] = info.fingerprint;
  body["directory"] = e.directory.filename().string();
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
      return error{ec::exhausted,
                   "write the manifest of a package set: disk full?",
                   {},
                   {}};
  }
  std::error_code why;
  fs::rename(draft, file, why);
  if (why)
    return failed("write", file, why);
  return {};
}

void environment_cache::on_garbage(std::function<void()> found) {
  std::lock_guard guard{wake_fd_->mutex};
  wake_fd_->found = std::move(found);
}

void environment_cache::arm_bell(bool armed) {
  std::lock_guard guard{wake_fd_->mutex};
  wake_fd_->armed = armed;
}

environment_lease_ptr environment_cache::lease_of(entry& e) {
  e.info.used_at = now();
  if (auto held = e.in_use.lock())
    return held;
  auto ring = [bell = wake_fd_](environment_lease* ended) {
    delete ended;
    std::function<void()> found;
    {
      std::lock_guard guard{bell->mutex};
      if (bell->armed)
        found = bell->found;
    }
    if (found)
      found();
  };
  std::shared_ptr<environment_lease> fresh{
    new environment_lease{e.directory, e.info.fingerprint}, std::move(ring)};
  e.in_use = fresh;
  return fresh;
}

environment_lease_ptr
environment_cache::lease(const organization_id& organization,
                         const std::string& fingerprint) {
  std::lock_guard guard{mutex_};
  auto i = entries_.find({organization, fingerprint});
  return i == entries_.end() ? nullptr : lease_of(i->second);
}

result<fs::path> environment_cache::stage(const organization_id& organization,
                                          const std::string& fingerprint) {
  auto path = root_ / organization.str()
    / (std::string{staging_prefix} + fingerprint + "-" + make_uuid());
  std::error_code why;
  fs::create_directories(path, why);
  // Runs read it, as whoever they are; nobody else gets as far as here.
  if (!why)
    fs::permissions(path, fs::perms{0755}, why);
  if (why)
    return failed("create", path, why);
  return path;
}

result<environment_lease_ptr> environment_cache::commit(const fs::path& staged,
                                                        environment_info info) {
  key k{info.organization, info.fingerprint};
  if (auto closed = close_to_writers(staged); !closed)
    return closed.error();
  info.bytes = use_of(staged).bytes;
  info.built_at = info.used_at = now();
  entry fresh{std::move(info), {}, {}};
  fresh.directory = staged.parent_path()
    / staged.filename().string().substr(staging_prefix.size());
  std::error_code why;
  fs::rename(staged, fresh.directory, why);
  if (why)
    return failed("finish", staged, why);
  if (auto written = write_manifest(fresh); !written) {
    discard(fresh.directory);
    return written.error();
  }
  environment_lease_ptr lease;
  std::vector<fs::path> garbage;
  {
    std::lock_guard guard{mutex_};
    auto& place = entries_[k];
    if (!place.directory.empty())
      replaced_.push_back({place.in_use, place.directory});
    place = std::move(fresh);
    lease = lease_of(place);
    garbage = evict_over_limit(k);
  }
  for (const auto& directory : garbage)
    discard(directory);
  collect();
  return lease;
}

void environment_cache::discard(const fs::path& staged) {
  std::error_code ignored;
  fs::remove_all(staged, ignored);
}

/// Its directory, which is nobody's from here on; "" while it is in use.
fs::path environment_cache::take_unused(const key& k) {
  auto i = entries_.find(k);
  if (i == entries_.end() || !i->second.in_use.expired())
    return {};
  // The manifest first: without it the rest is swept at the next start.
  std::error_code ignored;
  fs::remove(manifest(k), ignored);
  auto directory = std::move(i->second.directory);
  entries_.erase(i);
  return directory;
}

bool environment_cache::remove(const organization_id& organization,
                               const std::string& fingerprint) {
  fs::path directory;
  {
    std::lock_guard guard{mutex_};
    directory = take_unused({organization, fingerprint});
  }
  if (!directory.empty())
    discard(directory); // not under the lock that `lease` takes
  return !directory.empty();
}

void environment_cache::collect() {
  std::vector<fs::path> garbage;
  {
    std::lock_guard guard{mutex_};
    arm_bell(true); // before looking: an end in between rings
    std::erase_if(replaced_, [&](replaced& old) {
      if (!old.in_use.expired())
        return false;
      garbage.push_back(std::move(old.directory));
      return true;
    });
    if (replaced_.empty())
      arm_bell(false);
  }
  for (const auto& directory : garbage)
    discard(directory);
}

std::vector<fs::path> environment_cache::evict_over_limit(const key& keep) {
  std::uint64_t sum = 0;
  std::vector<std::pair<timestamp, key>> oldest_first;
  for (const auto& [k, e] : entries_) {
    sum += e.info.bytes;
    if (k != keep && e.in_use.expired())
      oldest_first.emplace_back(e.info.used_at, k);
  }
  std::sort(oldest_first.begin(), oldest_first.end());
  std::vector<fs::path> taken;
  for (const auto& [when, k] : oldest_first) {
    if (sum <= max_bytes_)
      break;
    sum -= entries_[k].info.bytes;
    taken.push_back(take_unused(k));
  }
  return taken;
}

// As the time of the manifest: nothing else looks at that.
void environment_cache::save_uses() {
  std::vector<std::pair<fs::path, timestamp>> uses;
  {
    std::lock_guard guard{mutex_};
    for (const auto& [k, e] : entries_)
      uses.emplace_back(manifest(k), e.info.used_at);
  }
  for (const auto& [file, when] : uses)
    set_time(file, when);
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
