#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::isolation {

// Small text files of cgroupfs and procfs.

bool write_text(const std::string& path, std::string_view text);
std::optional<std::string> read_text(const std::string& path);
std::optional<std::uint64_t> read_number(const std::string& path);
/// The number behind `key` in a file of "key number" lines; 0 if absent.
std::uint64_t read_keyed(const std::string& path, std::string_view key);

} // namespace troupe::isolation
