#include "runtime/packages/shared_directory.hpp"

#include "runtime/base/unique_fd.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace troupe {

namespace fs = std::filesystem;

namespace {

constexpr int most_links = 40; // as the kernel has it

/// Lexically; "" for the root itself.
std::optional<fs::path> part_below_root(const fs::path& path,
                                        const fs::path& root) {
  auto ends = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  if (root.empty() || ends.first != root.end())
    return std::nullopt;
  fs::path part;
  for (auto at = ends.second; at != path.end(); ++at)
    part /= *at;
  return part;
}

fs::path without_slash(fs::path path) {
  path = path.lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

/// How a tenant may begin: as the operator has spelled it, or as it is.
struct spelled_root {
  fs::path real;
  fs::path rest;
};

std::optional<spelled_root> root_of(const fs::path& path,
                                    const std::vector<fs::path>& roots) {
  for (const auto& root : roots) {
    std::error_code why;
    const auto real = fs::weakly_canonical(root, why);
    if (why || real.empty())
      continue;
    for (const auto& spelling : {without_slash(root), real})
      if (auto rest = part_below_root(path, spelling))
        return spelled_root{real, *rest};
  }
  return std::nullopt;
}

struct walk {
  shared_place found;
  std::optional<fs::path> link; // where to begin again
};

bool is_link(int fd, bool& is_directory) {
  struct stat about {};
  if (::fstat(fd, &about) != 0)
    return false;
  is_directory = S_ISDIR(about.st_mode);
  return S_ISLNK(about.st_mode);
}

/// Name by name, so that nothing can be put in the way of what was looked at.
walk walk_below(const spelled_root& from) {
  using enum shared_place::answer;
  fs::path here = from.real;
  unique_fd at{::open(here.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  for (auto name = from.rest.begin(); at && name != from.rest.end(); ++name) {
    unique_fd next{
      ::openat(at.get(), name->c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
    bool is_directory = false;
    if (next && is_link(next.get(), is_directory)) {
      char target[PATH_MAX];
      const auto size = ::readlinkat(next.get(), "", target, sizeof target);
      if (size <= 0)
        return {{absent, {}}, std::nullopt};
      auto again = here / std::string(target, static_cast<std::size_t>(size));
      while (++name != from.rest.end())
        again /= *name;
      return {{outside, {}}, std::move(again)};
    }
    if (next && !is_directory)
      next.reset();
    here /= *name;
    at = std::move(next);
  }
  if (!at)
    return {{absent, {}}, std::nullopt};
  return {{directory, std::move(here)}, std::nullopt};
}

} // namespace

std::optional<fs::path> part_below(const fs::path& path,
                                   const std::vector<fs::path>& roots) {
  for (const auto& root : roots) {
    std::error_code why;
    auto real = fs::weakly_canonical(root, why);
    if (why || real.empty())
      continue;
    auto ends
      = std::mismatch(real.begin(), real.end(), path.begin(), path.end());
    if (ends.first == real.end())
      return path.lexically_relative(real);
  }
  return std::nullopt;
}

shared_place find_shared(const std::string& directory,
                         const std::vector<fs::path>& roots) {
  if (directory.find(char{}) != directory.npos)
    return {};
  fs::path path{directory};
  for (int links = 0; links <= most_links; ++links) {
    auto root = root_of(without_slash(path), roots);
    if (!root)
      return {};
    auto next = walk_below(*root);
    if (!next.link)
      return std::move(next.found);
    path = std::move(*next.link);
  }
  return {};
}

} // namespace troupe
