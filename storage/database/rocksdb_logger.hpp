#pragma once

#include <rocksdb/env.h>

#include <memory>

namespace troupe {

/// RocksDB's warnings, as lines of our own log. Its own log file is one more
/// thing to bound, and on a full disk it ends the process: an assertion in
/// RocksDB 7.8 forbids to write to a file whose last write failed, and its
/// logger does not know.
std::shared_ptr<rocksdb::Logger> make_rocks_log();

} // namespace troupe
