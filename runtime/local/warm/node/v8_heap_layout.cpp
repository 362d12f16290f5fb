// Buys: V8 asks for its heap in pieces of 256 KiB, each at an address that it
// has drawn, all over the address space. Then each of forty pieces is a mapping
// of its own and has page tables of its own, two or three, which fork has to
// make and the child's end to give back: some 6 us each where a hypervisor
// keeps an eye on them. Side by side they need six tables in all, and are one
// mapping. Where they begin is still drawn, by the kernel, for each zygote.
//
// Loaded before Node starts (LD_PRELOAD), this is the `mmap` that V8 calls.
#include "runtime/local/warm/memory/libc_heap.hpp"
#include "runtime/local/warm/process/start_variables.hpp"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000 // Linux 4.17
#endif

namespace troupe::zygote {

namespace {

constexpr uintptr_t piece = 256u << 10;
constexpr uintptr_t reserve = uintptr_t{64} << 30; // addresses, not memory
// One that is larger has its reasons: to be near the code, say.
constexpr size_t largest = 2u << 20;

std::atomic<uintptr_t> next{0};
std::atomic<uintptr_t> end{0};

void* map(void* where, size_t size, int protection, int flags, int file,
          off_t offset) {
  return reinterpret_cast<void*>(
    syscall(SYS_mmap, where, size, protection, flags, file, offset));
}

/// Before Node has a second thread, and before it has asked libc for much:
/// that lies on huge pages from its beginning then.
__attribute__((constructor)) void find_place() {
  if (getenv("LD_PRELOAD") == nullptr)
    return; // too late
  wipe_start_variable("LD_PRELOAD");
  keep_libc_together();
  align_libc_heap();
  auto* p = map(nullptr, reserve, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    return;
  munmap(p, reserve);
  const auto begin = reinterpret_cast<uintptr_t>(p);
  constexpr uintptr_t table = 2u << 20; // what one page table is for
  next = (begin + table - 1) & ~(table - 1);
  end = begin + reserve;
}

/// Asked for with so much more than it needs that a piece of it is aligned:
/// given such an address, V8 returns the rest.
void* map_next(size_t size, int protection, int flags) {
  const auto needed = size > piece ? size - piece + 1 : size;
  const auto step = (needed + piece - 1) & ~(piece - 1);
  const auto at = next.fetch_add(step);
  if (at + size > end)
    return MAP_FAILED;
  return map(reinterpret_cast<void*>(at), size, protection,
             flags | MAP_FIXED_NOREPLACE, -1, 0);
}

void* map_for_node(void* where, size_t size, int protection, int flags,
                   int file, off_t offset) {
  constexpr int fixed = MAP_FIXED | MAP_FIXED_NOREPLACE;
  if (where != nullptr && size <= largest && (flags & fixed) == 0
      && (flags & MAP_ANONYMOUS) != 0 && next != 0)
    if (auto* p = map_next(size, protection, flags); p != MAP_FAILED) {
      if (reinterpret_cast<uintptr_t>(p) % piece == 0)
        return p;
      munmap(p, size); // before Linux 4.17 it was a mere wish
    }
  return map(where, size, protection, flags, file, offset);
}

} // namespace

} // namespace troupe::zygote

extern "C" __attribute__((visibility("default"))) void*
mmap(void* where, size_t size, int protection, int flags, int file,
     off_t offset) {
  return troupe::zygote::map_for_node(where, size, protection, flags, file,
                                      offset);
}

extern "C" __attribute__((visibility("default"), alias("mmap"))) void*
mmap64(void*, size_t, int, int, int, off_t);
