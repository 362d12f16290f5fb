#include "runtime/local/warden/instance.hpp"

#include "runtime/local/isolation/cgroup_files.hpp"
#include "runtime/local/isolation/cgroups.hpp"
#include "runtime/model/ids.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace troupe::warden {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "local-";

/// How many uids one instance takes: as many runs may exist at a time.
constexpr std::uint32_t block_size = 4'096;

error trouble(const std::string& what) {
  return error{.code = ec::unavailable,
               .text = what + ": " + std::strerror(errno)
                 + "; set the state directory to a place that only this user "
                   "can write to",
               .fields = {},
               .retry_after = {}};
}

/// A directory of our own that nobody else can write to.
bool make_private_directory(const std::string& path) {
  std::error_code code;
  fs::create_directories(fs::path{path}.parent_path(), code);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return false;
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0)
    return false;
  if (!S_ISDIR(about.st_mode) || about.st_uid != ::geteuid()
      || (about.st_mode & 022) != 0) {
    errno = EPERM;
    return false;
  }
  return true;
}

unique_fd take_lock(const std::string& path) {
  unique_fd fd{
    ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600)};
  if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0)
    fd.reset();
  return fd;
}

std::string record_path(const std::string& directory) {
  return directory + "/cgroups";
}

/// The last extent of ids that this user namespace has, as first and count.
std::pair<std::uint32_t, std::uint32_t> last_extent() {
  auto text = isolation::read_text("/proc/self/uid_map").value_or("");
  std::istringstream lines{text};
  std::pair<std::uint32_t, std::uint32_t> best{0, 0};
  std::uint64_t inside = 0, outside = 0, count = 0;
  while (lines >> inside >> outside >> count)
    best
      = {static_cast<std::uint32_t>(inside), static_cast<std::uint32_t>(count)};
  return best;
}

} // namespace

std::string default_state_dir() {
  if (::geteuid() == 0)
    return "/run/troupe";
  if (const char* run = std::getenv("XDG_RUNTIME_DIR");
      run != nullptr && run[0] == '/')
    return std::string{run} + "/troupe";
  return "/tmp/troupe-" + std::to_string(::geteuid());
}

result<instance> instance::claim(const std::string& state_dir) {
  instance out;
  out.name_ = make_uuid().substr(0, 8);
  out.directory_ = state_dir + "/" + std::string{prefix} + out.name_;
  if (!make_private_directory(state_dir))
    return trouble("use the state directory " + state_dir);
  if (!make_private_directory(out.directory_))
    return trouble("make " + out.directory_);
  out.lock_ = take_lock(out.directory_ + "/lock");
  if (!out.lock_)
    return trouble("lock " + out.directory_);
  return out;
}

bool record_cgroups(const std::string& directory,
                    const std::vector<std::string>& paths) {
  std::ofstream file{record_path(directory), std::ios::app};
  for (const auto& path : paths)
    file << path << '\n';
  file.flush();
  return file.good();
}

bool sweep_cgroups(const std::string& directory) {
  std::ifstream file{record_path(directory)};
  bool clean = true;
  for (std::string path; std::getline(file, path);)
    if (!path.empty() && path.front() == '/')
      clean = isolation::remove_cgroup_tree(path) && clean;
  if (clean)
    ::unlink(record_path(directory).c_str());
  return clean;
}

void remove_instance(const std::string& directory) {
  // With the record goes the knowledge of what is left: keep it if any is.
  if (!sweep_cgroups(directory))
    return;
  std::error_code code;
  fs::remove_all(directory, code);
}

void sweep_dead_instances(const std::string& state_dir) {
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(state_dir, code)) {
    auto name = entry.path().filename().string();
    if (!name.starts_with(prefix) || entry.is_symlink(code))
      continue;
    auto lock = take_lock(entry.path().string() + "/lock");
    if (lock) // whoever lives holds it
      remove_instance(entry.path());
  }
}

uid_block claim_uids(const std::string& state_dir, std::uint32_t first,
                     std::uint32_t count) {
  uid_block block;
  if (::geteuid() != 0)
    return block;
  auto [begin, size] = last_extent();
  if (first < begin
      || std::uint64_t{first} + count > std::uint64_t{begin} + size) {
    // A container's ids: the upper half of them, its services use the lower.
    count = std::min(count, size / 2);
    first = begin + size - count;
  }
  auto step = std::min(block_size, count);
  // One place for all instances of this user, whatever their state directory.
  std::string locks = "/run/troupe/uids";
  if (!make_private_directory("/run/troupe") || !make_private_directory(locks))
    locks = state_dir;
  for (std::uint32_t i = 0; step > 0 && i + step <= count; i += step) {
    block.lock = take_lock(locks + "/uids-" + std::to_string(first + i));
    if (!block.lock)
      continue;
    block.first = first + i;
    block.count = step;
    return block;
  }
  return block;
}

} // namespace troupe::warden
