// Loaded before the interpreter starts (LD_PRELOAD by boot.py), this decides
// where its memory comes from: the arenas of its start are another 500 pages,
// and hot blocks are told apart from the first one on.
#include "runtime/local/warm/process/start_variables.hpp"
#include "runtime/local/warm/python/heap/arena_heap.hpp"
#include "runtime/local/warm/python/hot_blocks/allocation_log.hpp"
#include "runtime/local/warm/python/hot_blocks/hot_blocks.hpp"

#include <stdlib.h>

namespace troupe::zygote {

namespace {

__attribute__((constructor)) void before_the_interpreter() {
  if (getenv("TROUPE_GATHER_HEAP") == nullptr)
    return;
  gather_heap_from_the_start();
  if (const char* profile = getenv("TROUPE_HOT_BLOCKS"))
    place_hot_blocks(profile);
  else if (getenv("TROUPE_LEARN_BLOCKS") != nullptr)
    remember_blocks();
  wipe_start_variable("TROUPE_HOT_BLOCKS");
  wipe_start_variable("TROUPE_LEARN_BLOCKS");
  wipe_start_variable("LD_PRELOAD");
}

} // namespace

} // namespace troupe::zygote
