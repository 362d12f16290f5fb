#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <span>
#include <string_view>

namespace troupe::zygote {

/// What this process has between two addresses.
struct mapping {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  int protection = PROT_NONE; // what may be done with it
  bool shared = false;
  uint64_t offset = 0;
  uint64_t device = 0;
  uint64_t inode = 0;    // 0: it is nobody's file
  std::string_view path; // of a file, or "[heap]"; until the next one is read

  uintptr_t size() const { return end - begin; }
  bool has(uintptr_t address) const {
    return begin <= address && address < end;
  }
  bool is_private(int with) const { return !shared && protection == with; }
  bool is_read_only() const {
    return (protection & (PROT_READ | PROT_WRITE)) == PROT_READ;
  }
  bool is_of_same_file(const mapping& other) const {
    return inode == other.inode && device == other.device;
  }
};

/// Room for the longest line that the kernel writes, with its path.
inline constexpr size_t map_room = 4096 + 256;

/// The memory map of this process, from the lowest address on. Asks nobody for
/// memory: heaps, and the map itself, stay as they are while they are looked
/// at. Who changes the map makes a list first.
class map_reader {
public:
  /// Reads into `room`, of `map_room` at least.
  explicit map_reader(std::span<char> room);
  ~map_reader();
  map_reader(const map_reader&) = delete;
  map_reader& operator=(const map_reader&) = delete;

  /// False: that was the last one, or it failed.
  bool next(mapping& out);
  bool failed() const { return failed_; }

private:
  bool read_more();

  std::span<char> room_;
  int file_;
  size_t at_ = 0;  // in the room: what has not been looked at ...
  size_t end_ = 0; // ... and where it ends
  bool failed_;
};

} // namespace troupe::zygote
