#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Headers of tar archives: those of POSIX.1-2001, and on the way in those of
/// GNU and of 1979 as well.
namespace troupe::inside::tar {

inline constexpr std::size_t block = 512;

/// Up to the next block.
constexpr std::size_t padding(std::uint64_t size) {
  return static_cast<std::size_t>((block - size % block) % block);
}

inline constexpr char file = '0';
inline constexpr char hard_link = '1';
inline constexpr char link = '2';
inline constexpr char folder = '5';
inline constexpr char attributes = 'x';     // of the next one
inline constexpr char all_attributes = 'g'; // of those that follow
inline constexpr char long_path = 'L';      // of the next one, by GNU
inline constexpr char long_target = 'K';

struct header {
  char type = file;
  std::string path;
  std::string target; // of a link
  std::uint64_t size = 0;
  std::uint32_t mode = 0;
  std::int64_t modified = 0; // seconds since 1970
};

/// With the attributes before it that its fields have no room for.
std::string encode(const header& h);

enum class decoded { good, end, bad };
/// One block. `end`: it is empty, as the last two are.
decoded decode(std::string_view one_block, header& out);

/// What attributes say of path, target, size and time. False: they are none.
bool apply_attributes(std::string_view text, header& to);

} // namespace troupe::inside::tar
