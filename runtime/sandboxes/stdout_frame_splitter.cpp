#include "runtime/sandboxes/stdout_frame_splitter.hpp"

#include <algorithm>

namespace troupe {

stdout_frame_splitter::stdout_frame_splitter(std::string key,
                                             std::size_t frame_limit)
    : mark_{"\n=troupe:" + std::move(key) + ":"}, limit_{frame_limit} {}

std::string stdout_frame_splitter::feed(std::string_view bytes) {
  if (state_ == state::after)
    return std::string{bytes};
  held_ += bytes;
  std::string show;
  if (state_ == state::before) {
    auto at = held_.find(mark_);
    if (at == std::string::npos) {
      // The longest tail that is a beginning of the mark stays.
      auto keep = std::min(held_.size(), mark_.size() - 1);
      while (keep > 0 && !mark_.starts_with(held_.substr(held_.size() - keep)))
        --keep;
      show = held_.substr(0, held_.size() - keep);
      held_.erase(0, held_.size() - keep);
      return show;
    }
    show = held_.substr(0, at);
    held_.erase(0, at);
    state_ = state::inside;
  }
  auto end = held_.find("=\n", mark_.size());
  if (end == std::string::npos) {
    if (held_.size() > limit_) {
      too_large_ = true;
      held_.clear();
      state_ = state::after; // the rest is not the tool's output either, but
                             // the run has failed and nobody will miss it
    }
    return show;
  }
  frame_ = held_.substr(0, end + 2);
  show += held_.substr(end + 2);
  held_.clear();
  state_ = state::after;
  return show;
}

std::string stdout_frame_splitter::finish() {
  if (state_ != state::inside)
    return std::exchange(held_, {});
  frame_ = std::exchange(held_, {}); // cut off: its reader will say so
  return {};
}

} // namespace troupe
