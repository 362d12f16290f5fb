#include "runtime/local/warm/memory/pagemap.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

namespace troupe::zygote {

pagemap::pagemap() : file_{open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)} {}

pagemap::~pagemap() {
  if (file_ >= 0)
    close(file_);
}

size_t pagemap::read(uintptr_t begin, std::span<uint64_t> entries) const {
  const auto got = pread(file_, entries.data(), entries.size_bytes(),
                         static_cast<off_t>(begin / page * sizeof(uint64_t)));
  return got <= 0 ? 0 : static_cast<size_t>(got) / sizeof(uint64_t);
}

size_t pagemap::count_present(uintptr_t begin,
                              std::span<uint64_t> entries) const {
  if (read(begin, entries) != entries.size())
    return 0;
  return static_cast<size_t>(std::ranges::count_if(
    entries, [](uint64_t entry) { return (entry & present) != 0; }));
}

} // namespace troupe::zygote
