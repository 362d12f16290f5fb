#pragma once

#include <stdint.h>
#include <sys/random.h>

namespace troupe::zygote {

/// Another stack guard, for the frames to come of this thread and of those that
/// it will make. Only for who never returns from where it is called: the frames
/// above were made with the old one, and would take this for an overflow.
/// Nothing where libc keeps it in memory that is read-only by now.
[[gnu::always_inline]] inline void renew_stack_guard() {
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__LP64__)
  constexpr uint64_t low_byte = 0xff; // zero, so that no string runs over it
  uint64_t guard = 0;
  if (getrandom(&guard, sizeof guard, 0) == sizeof guard)
    asm volatile("movq %0, %%fs:0x28" : : "r"(guard & ~low_byte) : "memory");
#endif
}

} // namespace troupe::zygote
