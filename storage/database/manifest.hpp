#pragma once

#include "runtime/base/error.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace troupe {

/// What lies in a directory of a store: names, sizes and, where `hash` is not
/// empty, SHA-256. A list written when all was well shows later what is not.
struct inventory {
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

result<inventory> take_inventory(const std::filesystem::path& directory,
                                 hashing which);

/// Names the first file that is missing or different. Other files may lie
/// beside.
result<void> compare_inventory(const std::filesystem::path& directory,
                               const inventory& expected);

/// One line per file; the last line is the hash of all before it.
std::string to_text(const inventory& list);
result<inventory> parse_inventory(std::string_view text);

} // namespace troupe
