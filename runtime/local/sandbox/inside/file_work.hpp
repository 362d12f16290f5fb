#pragma once

#include "runtime/local/sandbox/inside/hand_protocol.hpp"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

namespace troupe::inside {

// What a hand does with files. Everybody inside may change the tree meanwhile:
// a path is resolved once, by the kernel, below the root and over no magic
// link, and what was opened is worked on by its descriptor.

extern const std::uint64_t open_to_read;
extern const std::uint64_t open_to_name;

/// -1 with errno set. Never waits for the other end of a FIFO.
int open_inside(const char* path, std::uint64_t flags) noexcept;

file_kind kind_of(mode_t mode) noexcept;

/// What a link leads to; "": it is none, or is gone.
std::string target_of(int folder, const char* name);

// Each returns 0 or errno.

/// Writes all of `content` beside it and puts it there when it is whole; what
/// was there lends it its mode. Parents are made.
int write_file(const char* path, int content) noexcept;
int make_folder(const char* path) noexcept;
/// What is at `to` is replaced, as rename does.
int move_file(const char* from, const char* to) noexcept;
/// Follows nothing; refuses the root and what is mounted on.
int remove_all(const char* path) noexcept;
int each_entry(const char* path, const std::function<void(hand_entry)>& visit);

} // namespace troupe::inside
