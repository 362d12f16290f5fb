#pragma once

#include <stdint.h>

#include <string_view>

namespace troupe::zygote {

/// What is mapped of this file, whose path ends like that, is memory called
/// `name` afterwards. False, and part of it left, where the host does not let
/// us.
bool move_into_memory(uint64_t inode, std::string_view path_end,
                      const char* name);

} // namespace troupe::zygote
