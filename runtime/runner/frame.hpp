#pragma once

#include "runtime/base/error.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// What travels over the private channel (descriptor 3) of a run: one request
/// frame in, one answer frame out. The same on all sides: here, in
/// runtime/runner/python/troupe_runner/frame.py and in
/// runtime/runner/node/frame.cjs.
///
///   offset size
///        0    4  magic 7f 'T' 'R' 'P'
///        4    1  version, 1
///        5    1  kind
///        6    2  zero
///        8   20  length of each of the five parts, 32 bit little endian
///       28    4  CRC-32 of the 28 bytes above and of all parts
///       32       the parts, one after the other
namespace troupe::frame {

inline constexpr std::string_view magic{"\x7fTRP", 4};
inline constexpr std::uint8_t version = 1;
inline constexpr std::size_t part_count = 5;
inline constexpr std::size_t header_bytes = 32;

enum class kind : std::uint8_t { request = 1, answer = 2 };

/// Parts go as they are, never as text inside of text: nothing is escaped
/// twice, and a source or a value is not parsed on the way.
enum class part : std::uint8_t {
  head,  // a small JSON object: what it is all about
  body,  // request: the source; answer: the return value as JSON
  args,  // request: the arguments, a JSON object
  state, // agent_state as JSON; "" when none, or when unchanged
  code,  // the source in compiled form, from and for the same interpreter
};

struct message {
  kind what = kind::request;
  std::array<std::string, part_count> parts;

  std::string& operator[](part p) { return parts[static_cast<std::size_t>(p)]; }
  const std::string& operator[](part p) const {
    return parts[static_cast<std::size_t>(p)];
  }
};

/// Refuses parts of 4 GiB and more.
result<std::string> encode(const message& m);

/// Reads one frame from bytes as they come in, without trusting any of them:
/// a length is believed only below the limit, and memory grows with what has
/// really arrived. What follows a complete frame is ignored.
class reader {
public:
  enum class state : std::uint8_t { more, complete, broken };

  /// `limit` is for the whole frame, header included.
  reader(kind expected, std::size_t limit)
      : expected_{expected}, limit_{limit} {}

  state feed(std::string_view bytes);
  state now() const noexcept { return state_; }
  /// How many bytes are still needed, at least.
  std::size_t wanted() const noexcept;
  /// Whether anything has arrived at all.
  bool started() const noexcept { return !bytes_.empty(); }
  /// Why it is broken.
  const error& why() const noexcept { return why_; }
  /// The frame, once it is complete. Leaves the reader empty.
  message take();

private:
  state fail(std::string text);
  state read_header();
  state finish();

  kind expected_;
  std::size_t limit_;
  std::size_t total_ = header_bytes; // of the frame, once the header is there
  bool have_header_ = false;
  std::array<std::uint32_t, part_count> lengths_{};
  std::string bytes_;
  state state_ = state::more;
  error why_;
};

/// A whole frame that is already in memory.
result<message> decode(kind expected, std::string_view bytes,
                       std::size_t limit);

} // namespace troupe::frame
