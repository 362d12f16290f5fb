#pragma once

#include "runtime/model/sandbox_context.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What the engine and the interpreter of a context say to each other over a
/// stream of their own:
///
///     WORD NAME:BYTES NAME:BYTES ...\n
///
/// and then the parts that the line names, one behind the other. A line that
/// can be written by any language, parts that need no escaping. To the
/// interpreter goes `run code:N`, and `interrupt` while that runs; from it
/// comes
///
///     ready                                once, first
///     display id:N? MIME:N ...             and update, with an id
///     result MIME:N ...
///     error name:N value:N traceback:N
///     end status:N count:N                 ok, error or interrupted
///
/// Between two cells `image entry:N code:N` asks it to save itself; it says
/// `take bytes:N`, gets a byte with a descriptor beside it, and says `saved`;
/// or `kept why:N`. One that begins from an image is told `resume env:N`, and
/// its `ready` says what it has `lost:N`.
///
/// What comes is written by the tenant's own process.
namespace troupe::kernels {

struct frame {
  std::string word;
  std::vector<std::pair<std::string, std::string>> parts;

  /// "" where there is no such part.
  std::string_view part(std::string_view name) const;
};

std::string encode(const frame& f);

/// Takes a stream apart. What is not in the form above is refused, and all that
/// follows it.
class frame_reader {
public:
  static constexpr std::size_t max_head = 4u << 10;
  static constexpr std::size_t max_word = 16;
  static constexpr std::size_t max_name = 100;

  enum class status { whole, partial, broken };

  void append(std::string_view bytes) {
    buffered_.erase(0, std::exchange(at_, 0));
    buffered_ += bytes;
  }
  status next(frame& out);

private:
  bool read_head(std::string_view line);
  bool read_part(std::string_view text);

  std::string buffered_; // a frame and what came with it at most
  std::size_t at_ = 0;   // so much of it has been taken
  frame head_;           // of which the parts are missing
  std::vector<std::size_t> sizes_;
  std::size_t total_ = 0;
  bool has_head_ = false;
  bool broken_ = false;
};

/// What an interpreter may say, with texts made UTF-8. False: it is none of
/// that.
bool read_event(frame& from, cell_event& to);

struct cell_end {
  cell_status status = cell_status::ok;
  std::uint64_t count = 0;
};
bool read_end(const frame& from, cell_end& to);

} // namespace troupe::kernels
