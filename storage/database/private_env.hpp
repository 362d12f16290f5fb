#pragma once

#include <rocksdb/env.h>

namespace troupe {

/// The disk as RocksDB has it by default, but every file has mode 0600, where
/// its own would be 0644 or whatever the umask leaves of it. Lives for ever.
rocksdb::Env* private_env();

} // namespace troupe
