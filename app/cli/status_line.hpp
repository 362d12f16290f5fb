#pragma once

#include <chrono>
#include <string_view>

namespace troupe {

/// One line on standard error that says what is being waited for, and is gone
/// afterwards. Where that is no terminal nothing is ever written.
class status_line {
public:
  status_line();
  status_line(const status_line&) = delete;
  status_line& operator=(const status_line&) = delete;
  ~status_line();

  bool active() const noexcept { return active_; }
  /// Cut to the terminal's width. A change right after another is left out.
  void show(std::string_view text);
  /// Makes room for something that stays.
  void clear();

private:
  bool active_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_{};
};

} // namespace troupe
