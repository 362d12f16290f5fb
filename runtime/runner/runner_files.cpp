#include "runtime/runner/program.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace troupe::script {

// Generated: see CMakeLists.txt in this folder.
std::span<const embedded_file> embedded_runners();

namespace {

namespace fs = std::filesystem;

error cannot(std::string_view what, const fs::path& path, int code) {
  error e;
  e.code = ec::unavailable;
  e.text = std::string{what} + " " + path.string() + ": "
    + std::strerror(code); // NOLINT: start-up, single thread
  return e;
}

bool same_content(const fs::path& path, std::string_view text) {
  std::ifstream in{path, std::ios::binary};
  if (!in)
    return false;
  std::string there{std::istreambuf_iterator<char>{in}, {}};
  return there == text;
}

/// Readers see the old file or the new one, never a half.
result<void> replace_file(const fs::path& path, std::string_view text) {
  auto fresh = path.string() + ".new." + std::to_string(::getpid());
  int fd = ::open(fresh.c_str(),
                  O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (fd < 0)
    return cannot("create", fresh, errno);
  int failed = 0;
  while (!text.empty() && failed == 0) {
    auto n = ::write(fd, text.data(), text.size());
    if (n < 0)
      failed = errno;
    else
      text.remove_prefix(static_cast<std::size_t>(n));
  }
  // The sandbox reads as another user, whatever the umask says.
  if (failed == 0 && ::fchmod(fd, 0644) != 0)
    failed = errno;
  ::close(fd);
  if (failed == 0 && std::rename(fresh.c_str(), path.c_str()) != 0)
    failed = errno;
  if (failed != 0) {
    ::unlink(fresh.c_str());
    return cannot("write", path, failed);
  }
  return {};
}

} // namespace

std::span<const embedded_file> runner_files() {
  return embedded_runners();
}

result<void> install_runners(const std::string& directory) {
  for (const auto& file : runner_files()) {
    auto path = fs::path{directory} / file.path;
    std::error_code failed;
    fs::create_directories(path.parent_path(), failed);
    if (failed)
      return cannot("create", path.parent_path(), failed.value());
    for (auto at = path.parent_path();; at = at.parent_path()) {
      fs::permissions(at, fs::perms{0755}, failed);
      if (at == fs::path{directory} || !at.has_relative_path())
        break;
    }
    if (same_content(path, file.text))
      continue;
    if (auto done = replace_file(path, file.text); done.has_error())
      return done;
  }
  return {};
}

bool typescript_available() {
  auto files = runner_files();
  auto found = std::find_if(files.begin(), files.end(), [](const auto& f) {
    return f.path == "node/transpiler.cjs";
  });
  return found != files.end() && found->text.size() > 1000;
}

} // namespace troupe::script
