#include "storage/database/directory_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace troupe {

namespace {

constexpr const char* lock_name = "troupe.lock";
constexpr std::size_t max_lock_bytes = 256;

error held(const std::filesystem::path& file) {
  auto content = files::read(file, max_lock_bytes);
  auto who = content && !content->empty() ? *content : "an unknown process";
  while (!who.empty() && who.back() == '\n')
    who.pop_back();
  return {ec::conflict,
          "the store in " + file.parent_path().string() + " is in use by " + who
            + " (lock " + file.string()
            + "); stop that process or choose another directory",
          {},
          {}};
}

} // namespace

result<directory_lock>
directory_lock::take(const std::filesystem::path& directory, bool shared) {
  auto file = directory / lock_name;
  auto flags = shared ? O_RDONLY : O_RDWR | O_CREAT;
  directory_lock lock;
  lock.file_ = files::descriptor{
    ::open(file.c_str(), flags | O_CLOEXEC, S_IRUSR | S_IWUSR)};
  if (!lock.file_) {
    // A backup has no lock file, and looking at it shall not make one.
    if (shared && errno == ENOENT)
      return lock;
    return files::last_error("open", file);
  }
  // Of the open file, not of the process as fcntl's: it also keeps this very
  // process from opening a store twice.
  if (::flock(lock.file_.get(), (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      return held(file);
    return files::last_error("lock", file);
  }
  if (!shared) {
    auto text = "process " + std::to_string(::getpid()) + "\n";
    if (::ftruncate(lock.file_.get(), 0) != 0
        || ::pwrite(lock.file_.get(), text.data(), text.size(), 0) < 0)
      // A full disk must not keep a store from being read.
      if (errno != ENOSPC && errno != EDQUOT)
        return files::last_error("write", file);
  }
  return lock;
}

} // namespace troupe
