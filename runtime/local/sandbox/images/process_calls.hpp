#pragma once

// What code of a process image has in place of a library. All that is not part
// of its caller lies in one section, and reaches nothing outside of it: no
// data, no function (see runtime/CMakeLists.txt).
#include "runtime/local/sandbox/images/image_format.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>

#define IN_IMAGE                                                               \
  __attribute__((section("process_image"), visibility("hidden"), used,         \
                 noinline))
#define INLINE __attribute__((always_inline)) inline

namespace troupe::images {

INLINE long call(long number, word a = 0, word b = 0, word c = 0, word d = 0,
                 word e = 0, word f = 0) {
  register word r10 asm("r10") = d;
  register word r8 asm("r8") = e;
  register word r9 asm("r9") = f;
  long out;
  asm volatile("syscall"
               : "=a"(out)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return out;
}

INLINE bool failed(long n) {
  return n < 0 && n > -4096;
}

INLINE word of(const void* p) {
  return reinterpret_cast<word>(p);
}

template <class T>
INLINE T* at(word address) {
  return reinterpret_cast<T*>(address);
}

/// Eight letters as a number: a text that needs no data.
consteval word letters(const char* text) {
  word out = 0;
  for (int i = 0; i < 8 && text[i] != '\0'; ++i)
    out |= static_cast<word>(static_cast<unsigned char>(text[i])) << (8 * i);
  return out;
}

struct path_text {
  word parts[3];
};
INLINE path_text maps_path() {
  return {{letters("/proc/se"), letters("lf/maps"), 0}};
}
INLINE path_text pagemap_path() {
  return {{letters("/proc/se"), letters("lf/pagem"), letters("ap")}};
}

} // namespace troupe::images
