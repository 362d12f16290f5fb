#pragma once

#include <stdint.h>

namespace troupe::zygote {

inline constexpr uintptr_t huge = 2u << 20;

constexpr uintptr_t up(uintptr_t address) {
  return (address + huge - 1) & ~(huge - 1);
}
constexpr uintptr_t down(uintptr_t address) {
  return address & ~(huge - 1);
}

/// Whole huge pages between the two become huge. Returns how many did.
int collapse(uintptr_t begin, uintptr_t end);

} // namespace troupe::zygote
