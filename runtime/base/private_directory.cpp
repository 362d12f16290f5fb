#include "runtime/base/private_directory.hpp"

#include "runtime/base/log.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

namespace troupe {

namespace fs = std::filesystem;

namespace {

constexpr ::mode_t of_others = S_IRWXG | S_IRWXO;

error cannot_make(const fs::path& directory, int number) {
  return {ec::unavailable,
          "make " + directory.string() + ": "
            + std::generic_category().message(number),
          {},
          {}};
}

/// Whether it was made just now.
result<bool> make_closed(const fs::path& directory) {
  if (::mkdir(directory.c_str(), S_IRWXU) == 0) {
    // The umask may have taken from the owner, too.
    if (::chmod(directory.c_str(), S_IRWXU) != 0)
      return cannot_make(directory, errno);
    return true;
  }
  if (errno == ENOENT && directory.has_relative_path()) {
    const auto parent = directory.parent_path();
    if (parent.empty() || parent == directory)
      return cannot_make(directory, ENOENT);
    if (auto above = make_closed(parent); !above)
      return above.error();
    return make_closed(directory);
  }
  const int number = errno;
  struct stat about {};
  if (number != EEXIST || ::stat(directory.c_str(), &about) != 0)
    return cannot_make(directory, number);
  if (!S_ISDIR(about.st_mode))
    return cannot_make(directory, ENOTDIR);
  return false;
}

/// 0: to nobody.
::mode_t open_to_others(const fs::path& directory) {
  struct stat about {};
  if (::stat(directory.c_str(), &about) != 0)
    return 0;
  return about.st_mode & of_others ? about.st_mode & 07777 : 0;
}

void warn(const fs::path& directory, ::mode_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode));
  log::warning("data directory is accessible to other users",
               {{"directory", directory.string()},
                {"mode", text.data()},
                {"way_out", "chmod 700 " + directory.string()}});
}

bool is_ours(const std::string& name) {
  constexpr std::array ours{"store", "environments", "master.key",
                            "engine.lock", "operator.sock"};
  return std::any_of(ours.begin(), ours.end(), [&](const char* of_us) {
    return name == of_us || name.starts_with(std::string{of_us} + ".");
  });
}

bool holds_only_ours(const fs::path& directory) {
  std::error_code failed;
  fs::directory_iterator i{directory, failed};
  for (; !failed && i != fs::directory_iterator{}; i.increment(failed))
    if (!is_ours(i->path().filename().string()))
      return false;
  return !failed;
}

void close_or_warn(const fs::path& directory, bool may_close) {
  const auto mode = open_to_others(directory);
  if (mode == 0)
    return;
  if (!may_close || ::chmod(directory.c_str(), mode & S_IRWXU) != 0)
    warn(directory, mode);
  else
    log::info("data directory was accessible to other users, permissions fixed",
              {{"directory", directory.string()}});
}

} // namespace

result<void> make_private_directory(const fs::path& directory) {
  auto made = make_closed(directory);
  if (!made)
    return made.error();
  if (!*made)
    close_or_warn(directory, true);
  return {};
}

result<void> make_data_directory(const fs::path& directory) {
  auto made = make_closed(directory);
  if (!made)
    return made.error();
  if (!*made)
    close_or_warn(directory, holds_only_ours(directory));
  return {};
}

} // namespace troupe
