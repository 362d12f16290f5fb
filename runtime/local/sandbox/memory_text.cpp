#include "runtime/local/sandbox/memory_text.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace troupe {

unique_fd memory_text(const char* name, std::string_view text) {
  unique_fd file{::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  while (file && !text.empty()) {
    const auto n = ::write(file.get(), text.data(), text.size());
    if (n <= 0)
      return {};
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  constexpr int seals
    = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  if (!file || ::fcntl(file.get(), F_ADD_SEALS, seals) != 0
      || ::lseek(file.get(), 0, SEEK_SET) != 0)
    return {};
  return file;
}

} // namespace troupe
