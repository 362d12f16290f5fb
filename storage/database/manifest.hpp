#pragma once

#include "runtime/base/error.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace troupe {

/// What lies in a directory of a store: names, sizes and, where `hash` is not
/// empty, SHA-256. A list written when all was well shows later what is not.
struct manifest {
  struct file {
    std::uint64_t bytes = 0;
    std::string hash;
    friend bool operator==(const file&, const file&) = default;
  };
  std::map<std::string, file> files;
};

enum class hashing : std::uint8_t {
  small_files, // not the tables: they carry checksums per block
  all_files,   // for a backup, which may have travelled
};

result<manifest> take_manifest(const std::filesystem::path& directory,
                               hashing which);

/// Names the first file that is missing or different. Other files may lie
/// beside.
result<void> compare_manifest(const std::filesystem::path& directory,
                              const manifest& expected);

/// One line per file; the last line is the hash of all before it.
std::string to_text(const manifest& list);
result<manifest> parse_manifest(std::string_view text);

} // namespace troupe
