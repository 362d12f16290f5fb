#include "runtime/local/sandbox/memory_text.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace troupe {

unique_fd memory_text(const char* name, std::string_view text) {
  auto file = new_memory_text(name);
  if (!file || !append_text(file, text) || !seal_text(file))
    return {};
  return file;
}

unique_fd new_memory_text(const char* name) {
  return unique_fd{::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)};
}

bool append_text(const unique_fd& file, std::string_view piece) {
  while (!piece.empty()) {
    const auto n = ::write(file.get(), piece.data(), piece.size());
    if (n <= 0)
      return false;
    piece.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool seal_text(const unique_fd& file) {
  constexpr int seals
    = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  return ::fcntl(file.get(), F_ADD_SEALS, seals) == 0
    && ::lseek(file.get(), 0, SEEK_SET) == 0;
}

} // namespace troupe
