#pragma once

#include "runtime/base/error.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

/// Files the careful way: descriptors that close, writes that are on disk when
/// they return, errors that name the file.
namespace troupe::files {

class descriptor {
public:
  descriptor() = default;
  explicit descriptor(int fd) : fd_{fd} {}
  descriptor(descriptor&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~descriptor();
  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

private:
  int fd_ = -1;
};

/// An error from errno: "write /var/lib/troupe/x: No space left on device".
error last_error(std::string_view doing, const std::filesystem::path& file);

/// At most `limit` bytes; more is an error.
result<std::string> read(const std::filesystem::path& file, std::size_t limit);

/// Writes beside it, syncs, renames, syncs the directory: the file is the old
/// one or the new one, whenever the power fails. Mode 0600.
result<void> replace(const std::filesystem::path& file,
                     std::string_view content);

/// Creates a new file, mode 0600: completely or not at all, also if
/// another process tries it at the same time. ec::conflict: it is there.
result<void> create(const std::filesystem::path& file,
                    std::string_view content);

result<void> remove(const std::filesystem::path& file); // and sync
result<void> sync_directory(const std::filesystem::path& directory);
result<void> sync_file(const std::filesystem::path& file);

/// Hex SHA-256 of the whole file.
result<std::string> hash(const std::filesystem::path& file);

/// Takes from all users but the owner what they may do with the files of a
/// directory. What is refused stays as it was.
void close_to_others(const std::filesystem::path& directory);

/// Copies and syncs; `from` is no link, the copy has mode 0600.
result<void> copy(const std::filesystem::path& from,
                  const std::filesystem::path& to);

} // namespace troupe::files
