#include "runtime/local/warm/memory/memory_file.hpp"

#include "runtime/local/warm/memory/pagemap.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u // Linux 6.3
#endif

namespace troupe::zygote {

namespace {

int open_file(const char* name) {
  constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  const int file = memfd_create(name, flags | MFD_NOEXEC_SEAL);
  return file >= 0 ? file : memfd_create(name, flags);
}

void copy(int file, uintptr_t begin, uintptr_t end, uintptr_t offset) {
  for (auto at = begin; at < end;) {
    const auto done = pwrite(file, reinterpret_cast<const void*>(at), end - at,
                             static_cast<off_t>(offset + (at - begin)));
    if (done > 0)
      at += static_cast<uintptr_t>(done);
    else
      at = (at & ~(page - 1)) + page;
  }
}

} // namespace

memory_file::memory_file(const char* name) : file_{open_file(name)} {}

memory_file::~memory_file() {
  if (file_ < 0)
    return;
  fcntl(file_, F_ADD_SEALS,
        F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  close(file_);
}

bool memory_file::take_over(uintptr_t begin, uintptr_t end, int protection) {
  if (size_ == 0)
    first_ = begin;
  // Neighbours in memory are neighbours in the file: one mapping in the end.
  const auto offset = begin - first_;
  const auto size = end - begin;
  size_ = std::max(size_, offset + size);
  if (file_ < 0 || begin < first_
      || ftruncate(file_, static_cast<off_t>(size_)) != 0)
    return false;
  copy(file_, begin, end, offset);
  // Elsewhere first: who forbids such mappings leaves all as it is.
  auto* space = mmap(nullptr, size, protection, MAP_PRIVATE | MAP_NORESERVE,
                     file_, static_cast<off_t>(offset));
  if (space == MAP_FAILED)
    return false;
  if (mremap(space, size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
             reinterpret_cast<void*>(begin))
      != MAP_FAILED)
    return true;
  munmap(space, size);
  return false;
}

} // namespace troupe::zygote
