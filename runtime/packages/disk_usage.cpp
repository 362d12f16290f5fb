#include "runtime/packages/disk_usage.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace troupe {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t block_bytes = 512; // of st_blocks, whatever the disk's

constexpr ::mode_t never = S_ISUID | S_ISGID | S_ISVTX | S_IWGRP | S_IWOTH;

result<void> close_one(const fs::path& path) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) == 0
      && (S_ISLNK(about.st_mode) || (about.st_mode & never) == 0
          || ::chmod(path.c_str(), about.st_mode & 07777 & ~never) == 0))
    return {};
  return error{ec::internal,
               "close " + path.filename().string()
                 + " to others: " + std::generic_category().message(errno),
               {},
               {}};
}

} // namespace

result<void> close_to_writers(const fs::path& directory) {
  if (auto closed = close_one(directory); !closed)
    return closed;
  std::error_code why;
  fs::recursive_directory_iterator i{directory, why}, end;
  while (!why && i != end) {
    if (auto closed = close_one(i->path()); !closed)
      return closed;
    i.increment(why);
  }
  if (why)
    return error{ec::internal,
                 "read " + directory.filename().string() + ": " + why.message(),
                 {},
                 {}};
  return {};
}

disk_usage use_of(const fs::path& directory) {
  disk_usage sum;
  std::error_code why;
  fs::recursive_directory_iterator i{directory, why}, end;
  while (!why && i != end) {
    ++sum.inodes;
    struct stat about {};
    if (::lstat(i->path().c_str(), &about) == 0)
      sum.bytes += static_cast<std::uint64_t>(about.st_blocks) * block_bytes;
    i.increment(why);
  }
  return sum;
}

} // namespace troupe
