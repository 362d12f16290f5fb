#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

/// Writes lines to a descriptor whose reader may be slow, or not read any
/// more. Waits for a slow reader once and briefly; then lines are counted
/// instead of written until it reads again. Never dies of SIGPIPE.
/// Used by one thread; `lost` may be asked by any.
class line_writer {
public:
  /// Keeps a description of its own, so that making it non-blocking does not
  /// change standard error for the rest of the process or for its parent.
  explicit line_writer(int fd);
  line_writer(const line_writer&) = delete;
  line_writer& operator=(const line_writer&) = delete;
  ~line_writer();

  /// `line` ends in a newline. False: it was dropped, and counted.
  bool write(std::string_view line) noexcept;
  std::uint64_t lost() const noexcept { return lost_; }

private:
  bool flush_rest() noexcept;
  bool wait_for_room() noexcept;
  long attempt(std::string_view bytes) noexcept;
  bool drop() noexcept;

  int fd_ = -1;
  bool is_socket_ = false;
  bool stuck_ = false; // the last line did not fit: do not wait again
  std::string rest_;   // of a line that went only halfway
  std::atomic<std::uint64_t> lost_{0};
};

} // namespace troupe
