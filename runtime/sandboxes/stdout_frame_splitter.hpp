#pragma once

#include "runtime/runner/stdout_frame.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace troupe {

/// Splits the stdout of a remote script, as it comes in, into what the tool
/// printed and the one frame that answers (runtime/runner/stdout_frame.hpp).
/// Holds back only what may still turn out to be the frame's beginning.
class stdout_frame_splitter {
public:
  stdout_frame_splitter(std::string key, std::size_t frame_limit);

  /// What may be shown now.
  std::string feed(std::string_view bytes);
  /// What was held back and is no frame after all; then `frame` is final.
  std::string finish();

  /// The frame's text with its line ends, "" when none came.
  const std::string& frame() const { return frame_; }
  bool too_large() const { return too_large_; }

private:
  enum class state { before, inside, after };

  std::string mark_;
  std::size_t limit_;
  state state_ = state::before;
  std::string held_;
  std::string frame_;
  bool too_large_ = false;
};

} // namespace troupe
