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

/// Anonymous memory with the same content takes the place of the original, and
/// lies as that does within huge pages. False: nothing has changed.
bool replace(uintptr_t begin, uintptr_t end, int protection);

} // namespace troupe::zygote
