#pragma once

#include "runtime/local/zygote/module/child.hpp"

namespace troupe::zygote {

/// After the preload, before the first fork: the named memory tricks, each of
/// which falls back by itself. `tricks` of "allocator,text,heap".
void prepare_memory(const char* tricks);

/// Clones a slot per order and says which of them died. No Python from here
/// on: what writes to the heap here un-shares it for every child.
[[noreturn]] void serve_zygote(const interpreter& python, int control);

} // namespace troupe::zygote
