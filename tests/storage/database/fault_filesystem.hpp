#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace troupe::tests {

/// A disk that fails when it is told to, and forgets what was not synced.
class fault_filesystem : public rocksdb::FileSystemWrapper {
public:
  fault_filesystem()
      : rocksdb::FileSystemWrapper(rocksdb::FileSystem::Default()) {}

  const char* Name() const override { return "fault_filesystem"; }

  std::atomic<bool> full = false;          // ENOSPC for every append
  std::atomic<int> files_left = 1'000'000; // new ones, then ENOSPC
  std::atomic<bool> sync_fails = false;    // EIO for every fsync
  std::atomic<bool> read_fails = false;    // EIO for every read

  rocksdb::IOStatus
  NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                  std::unique_ptr<rocksdb::FSWritableFile>* out,
                  rocksdb::IODebugContext* debug) override {
    if (full || files_left-- <= 0)
      return rocksdb::IOStatus::NoSpace("no space left on device", name);
    auto status = target()->NewWritableFile(name, options, out, debug);
    if (status.ok())
      *out = std::make_unique<file>(std::move(*out), *this, name);
    return status;
  }

  rocksdb::IOStatus
  NewRandomAccessFile(const std::string& name,
                      const rocksdb::FileOptions& options,
                      std::unique_ptr<rocksdb::FSRandomAccessFile>* out,
                      rocksdb::IODebugContext* debug) override {
    auto status = target()->NewRandomAccessFile(name, options, out, debug);
    if (status.ok())
      *out = std::make_unique<reader>(std::move(*out), *this);
    return status;
  }

  /// In a copy of a directory: every file back to its last sync, as if the
  /// power had gone.
  void lose_unsynced(const std::filesystem::path& copy) {
    std::lock_guard guard{mutex_};
    for (const auto& [name, size] : synced_) {
      auto file = copy / std::filesystem::path{name}.filename();
      std::error_code gone;
      auto now = std::filesystem::file_size(file, gone);
      if (!gone && now > size)
        std::filesystem::resize_file(file, size);
    }
  }

private:
  class file : public rocksdb::FSWritableFileOwnerWrapper {
  public:
    file(std::unique_ptr<rocksdb::FSWritableFile>&& inner,
         fault_filesystem& disk, std::string name)
        : rocksdb::FSWritableFileOwnerWrapper(std::move(inner)), disk_{disk},
          name_{std::move(name)} {
      disk_.note(name_, 0);
    }

    using rocksdb::FSWritableFileOwnerWrapper::Append;
    rocksdb::IOStatus Append(const rocksdb::Slice& data,
                             const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override {
      if (disk_.full)
        return rocksdb::IOStatus::NoSpace("no space left on device", name_);
      size_ += data.size();
      return FSWritableFileOwnerWrapper::Append(data, options, debug);
    }
    rocksdb::IOStatus Sync(const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* debug) override {
      return synced(FSWritableFileOwnerWrapper::Sync(options, debug));
    }
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options,
                            rocksdb::IODebugContext* debug) override {
      return synced(FSWritableFileOwnerWrapper::Fsync(options, debug));
    }

  private:
    rocksdb::IOStatus synced(rocksdb::IOStatus status) {
      if (disk_.sync_fails)
        return rocksdb::IOStatus::IOError("input/output error", name_);
      if (status.ok())
        disk_.note(name_, size_);
      return status;
    }

    fault_filesystem& disk_;
    std::string name_;
    std::uint64_t size_ = 0;
  };

  class reader : public rocksdb::FSRandomAccessFileOwnerWrapper {
  public:
    reader(std::unique_ptr<rocksdb::FSRandomAccessFile>&& inner,
           fault_filesystem& disk)
        : rocksdb::FSRandomAccessFileOwnerWrapper(std::move(inner)), disk_{
                                                                       disk} {}

    rocksdb::IOStatus Read(std::uint64_t offset, std::size_t n,
                           const rocksdb::IOOptions& options,
                           rocksdb::Slice* out, char* scratch,
                           rocksdb::IODebugContext* debug) const override {
      if (disk_.read_fails)
        return rocksdb::IOStatus::IOError("input/output error", "table");
      return FSRandomAccessFileOwnerWrapper::Read(offset, n, options, out,
                                                  scratch, debug);
    }

  private:
    fault_filesystem& disk_;
  };

  void note(const std::string& name, std::uint64_t size) {
    std::lock_guard guard{mutex_};
    synced_[name] = size;
  }

  std::mutex mutex_;
  std::map<std::string, std::uint64_t> synced_;
};

} // namespace troupe::tests
