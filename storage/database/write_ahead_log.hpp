#pragma once

#include "runtime/base/error.hpp"

#include <filesystem>
#include <string_view>

namespace troupe {

/// RocksDB takes the log's end to be wherever a record runs past the end of
/// the file: right after a crash, but a flipped bit in a length looks the same
/// and quietly drops acknowledged records behind it. A torn write has nothing
/// readable behind its beginning. This looks, before RocksDB does.
enum class log_state : std::uint8_t {
  whole,   // every record reads
  torn,    // the last record was being written when the process died
  damaged, // something else
};

struct log_finding {
  log_state state = log_state::whole;
  std::size_t offset = 0; // of the first record that does not read
};

/// Examines one log's bytes.
log_finding examine_log(std::string_view bytes);

/// Refuses damaged logs, and a torn one that is not the last, by name. Also
/// the manifest, which is written in the same form.
result<void> check_logs(const std::filesystem::path& directory);

} // namespace troupe
