#pragma once

#include "runtime/local/warm/memory/huge_pages.hpp"
#include "runtime/local/warm/python/heap/python_memory.hpp"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <tuple>
#include <vector>

namespace troupe::zygote {

/// What every run writes to lies apart from what only some write to.
enum part : uint32_t { everywhere, somewhere, parts };

inline constexpr size_t part_size = huge / parts; // one page table for all

// The largest that every run writes to are the slots of the dictionary of all
// interned strings: in the middle of a huge page of the heap they would split
// it, in every child once more.
inline constexpr size_t largest_named = part_size / 2;
inline constexpr unsigned named_classes = class_of_size(largest_named) + 1;

/// A line of a profile: the `number`th block of its size class in its chapter.
struct block_name {
  uint32_t chapter;
  uint32_t size_class;
  uint32_t number; // from 1
  uint32_t where;  // of `part`

  bool operator<(const block_name& other) const {
    return std::tie(chapter, size_class, number)
      < std::tie(other.chapter, other.size_class, other.number);
  }
};

/// Names blocks as they are asked for.
class block_counter {
public:
  void begin(uint32_t chapter) {
    chapter_ = chapter;
    memset(asked_, 0, sizeof asked_);
  }
  /// One of up to `largest_named`.
  block_name add(size_t size) {
    const auto index = class_of_size(size);
    return {chapter_, index, ++asked_[index], somewhere};
  }

private:
  uint32_t chapter_ = 0;
  uint32_t asked_[named_classes] = {}; // so far in this chapter
};

/// Of this interpreter.
inline block_counter blocks_asked;

/// In the order in which they will be asked for. Empty: no good profile.
std::vector<block_name> read_names(const char* path);

/// Whoever reads the file finds all of it or nothing. Returns how many it has.
int write_names(const char* path, std::vector<block_name> names);

} // namespace troupe::zygote
