#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// What of `path` lies below one of these; nothing when none holds it.
std::optional<std::filesystem::path>
part_below(const std::filesystem::path& path,
           const std::vector<std::filesystem::path>& roots);

struct shared_place {
  enum class answer { outside, absent, directory };
  answer is = answer::outside;
  std::filesystem::path real; // of a directory: no part of it is a link
};

/// Where a tenant's word for a directory leads. What is not below a root is
/// `outside`, and so is what a link leads out to: neither is looked at, so that
/// no caller learns what else the host has.
shared_place find_shared(const std::string& directory,
                         const std::vector<std::filesystem::path>& roots);

} // namespace troupe
