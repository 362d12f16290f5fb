#pragma once

#include <stddef.h>
#include <stdint.h>

namespace troupe::zygote {

/// Before the interpreter starts: remembers where each block lies. Slow.
bool remember_blocks();

/// After `remember_blocks`: names the blocks that the addresses belong to.
/// `everywhere`: whether every tool has written to it. Returns how many.
struct written_address {
  uintptr_t address;
  bool everywhere;
};
int write_profile(const char* path, const written_address* written,
                  size_t count);

} // namespace troupe::zygote
