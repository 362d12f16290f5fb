#pragma once

#include "storage/database/durable_files.hpp"

namespace troupe {

/// Holds a store's directory for one process. Released by the kernel when the
/// process ends, however it ends.
class directory_lock {
public:
  /// `conflict` if it is held; the text names the process. `shared`
  /// keeps writers away and leaves the directory as it is.
  static result<directory_lock> take(const std::filesystem::path& directory,
                                     bool shared);

private:
  files::descriptor file_;
};

} // namespace troupe
