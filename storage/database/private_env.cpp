#include "storage/database/private_env.hpp"

#include <rocksdb/file_system.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>

namespace troupe {

namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOStatus;

// Env::SetAllowNonOwnerAccess promises the same and reaches no file (7.8.3).
class private_files final : public rocksdb::FileSystemWrapper {
public:
  private_files() : FileSystemWrapper{rocksdb::FileSystem::Default()} {}

  static const char* kClassName() { return "private_files"; }
  const char* Name() const override { return kClassName(); }

  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* made,
                           IODebugContext* debug) override {
    return closed(name, target()->NewWritableFile(name, options, made, debug));
  }
  IOStatus ReopenWritableFile(const std::string& name,
                              const FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* made,
                              IODebugContext* debug) override {
    return closed(name,
                  target()->ReopenWritableFile(name, options, made, debug));
  }
  IOStatus NewRandomRWFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSRandomRWFile>* made,
                           IODebugContext* debug) override {
    return closed(name, target()->NewRandomRWFile(name, options, made, debug));
  }
  IOStatus LockFile(const std::string& name, const rocksdb::IOOptions& options,
                    rocksdb::FileLock** made, IODebugContext* debug) override {
    return closed(name, target()->LockFile(name, options, made, debug));
  }

private:
  /// Nobody gets to it before: it lies in a directory that is closed.
  static IOStatus closed(const std::string& name, IOStatus made) {
    if (made.ok() && ::chmod(name.c_str(), S_IRUSR | S_IWUSR) != 0)
      return IOStatus::IOError("close " + name + " to others",
                               rocksdb::Slice{std::to_string(errno)});
    return made;
  }
};

} // namespace

rocksdb::Env* private_env() {
  static const auto made
    = rocksdb::NewCompositeEnv(std::make_shared<private_files>()).release();
  return made;
}

} // namespace troupe
