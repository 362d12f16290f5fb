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
  stat,        // follows no link at its end
  make_folder, // with its parents
  move,        // `path` becomes `to`
  remove,      // with all that is in it
  // hand -> engine
  entries,
  done,
  // engine -> hand
  pack,   // descriptor: where an archive of it goes
  unpack, // descriptor: where an archive comes from
  search, // some `matches`, then `done`
  watch,  // `done` when it is watched, then `events` until the socket closes
  // hand -> engine
  matches,
  events,
};

enum class file_kind : std::uint8_t { other, file, folder, link };

struct hand_entry {
  std::string name;
  file_kind kind = file_kind::other;
  std::uint64_t bytes = 0;
  std::string target; // of a link
};

/// Something that was searched for.
struct hand_match {
  std::string path; // below the folder
  file_kind kind = file_kind::other;
  std::uint64_t bytes = 0;
  std::uint64_t line = 0; // of a text; 0: none was asked for
  std::string text;       // of that line, its first part
};

enum class event_kind : std::uint8_t {
  created,
  written,
  changed, // owner, mode or times
  removed,
  moved,    // `to` is its new path
  overflow, // what happened below `path` is not all told
};

/// Something that happened to a file that is watched.
struct hand_event {
  event_kind what = event_kind::created;
  std::string path; // absolute
  std::string to;
};

struct hand_message {
  hand_word what = hand_word::done;
  std::string path; // a question's
  std::string to;   // of `move`
  // search
  std::string name; // a pattern; "": any
  std::string text; // that is in it; "": any
  bool ignore_case = false;
  std::uint32_t most = 0;
  bool recursive = false; // watch
  std::vector<hand_entry> entries;
  std::vector<hand_match> matches;
  std::vector<hand_event> events;
  // done
  std::int32_t error = 0; // errno
  file_kind kind = file_kind::other;
  std::uint64_t bytes = 0;
  std::uint64_t count = 0; // of entries of an archive
  bool whole = true;       // all that was searched for was found
  std::string about;       // what a link leads to; which entry was refused
};

std::string encode(const hand_message& m);
/// False for anything that is not exactly one message.
bool decode(std::string_view packet, hand_message& out);

} // namespace troupe::inside
