#pragma once

namespace troupe::zygote {

/// Before the interpreter starts, if `profile` names a file that
/// `write_profile` has written: blocks that it names lie side by side from here
/// on. False, and nothing changed, where there is no such file.
bool place_hot_blocks(const char* profile);

/// Blocks are counted anew from here on; once for each title.
void next_chapter(const char* title);

/// Before the first fork: no more locks. A child's threads make theirs at the
/// same time, and where they like.
void finalize_lock_allocator();

/// Before the first fork: their pages become neighbours in memory as well.
void gather_hot_blocks();

/// How many blocks were put side by side.
int hot_blocks_placed();

} // namespace troupe::zygote
