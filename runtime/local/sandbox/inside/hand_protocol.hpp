#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What the engine asks of a hand, a process of the sandbox's user that does
/// its file work: one question at a time, each with its answers.
namespace troupe::inside {

inline constexpr std::size_t max_hand_packet = 64u << 10;
inline constexpr int max_hand_descriptors = 1;

enum class hand_word : std::uint8_t {
  // engine -> hand; paths are absolute, and inside
  open = 1,    // a regular file, to be read; its descriptor beside `done`
  write,       // descriptor: what is to be in it
  list,        // some `entries`, then `done`
  stat,        // follows links
  make_folder, // with its parents
  move,        // `path` becomes `to`
  remove,      // with all that is in it
  // hand -> engine
  entries,
  done,
};

enum class file_kind : std::uint8_t { other, file, folder, link };

struct hand_entry {
  std::string name;
  file_kind kind = file_kind::other;
  std::uint64_t bytes = 0;
};

struct hand_message {
  hand_word what = hand_word::done;
  std::string path; // a question's
  std::string to;   // of `move`
  std::vector<hand_entry> entries;
  // done
  std::int32_t error = 0; // errno
  file_kind kind = file_kind::other;
  std::uint64_t bytes = 0;
};

std::string encode(const hand_message& m);
/// False for anything that is not exactly one message.
bool decode(std::string_view packet, hand_message& out);

} // namespace troupe::inside
