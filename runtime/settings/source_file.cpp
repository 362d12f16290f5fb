#include "runtime/settings/source_file.hpp"

#include "runtime/base/secret.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace troupe {

namespace {

error trouble(const std::string& path) {
  const auto number = errno;
  const auto absent = number == ENOENT || number == ENOTDIR;
  return {absent ? ec::not_found : ec::invalid_request,
          path + ": cannot be read (" + std::generic_category().message(number)
            + "); check its name and mode",
          {},
          {}};
}

/// As much as fits.
result<std::size_t> fill(int fd, std::string& buffer, const std::string& path) {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    auto n = ::read(fd, buffer.data() + filled, buffer.size() - filled);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return trouble(path);
    if (n == 0)
      break;
    filled += static_cast<std::size_t>(n);
  }
  return filled;
}

} // namespace

result<source_file> read_source(const std::string& path, std::size_t limit) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return trouble(path);
  struct stat about {};
  ::fstat(fd, &about);
  source_file file;
  file.open_to_all = (about.st_mode & (S_IROTH | S_IWOTH)) != 0;
  file.text.resize(limit + 1); // at once: growing would leave copies behind
  auto filled = fill(fd, file.text, path);
  ::close(fd);
  if (!filled)
    return filled.error();
  if (*filled > limit) {
    wipe(file.text.data(), file.text.size());
    return error{ec::invalid_request,
                 path + ": is larger than " + std::to_string(limit) + " bytes",
                 {},
                 {}};
  }
  file.text.resize(*filled);
  return file;
}

} // namespace troupe
