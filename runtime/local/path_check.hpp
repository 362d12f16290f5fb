#pragma once

#include <cstddef>
#include <string>

namespace troupe {

/// The bounds of one packet to the warden.
inline constexpr std::size_t max_mounts = 32;
inline constexpr std::size_t max_path = 1024;

/// Absolute, without steps upwards.
inline bool is_plain_path(const std::string& path) {
  return !path.empty() && path.front() == '/' && path.size() <= max_path
    && path.find('\0') == std::string::npos
    && path.find("/../") == std::string::npos && !path.ends_with("/..");
}

} // namespace troupe
