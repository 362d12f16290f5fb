#pragma once

#include "runtime/engine/sandbox_engine.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

/// The last bytes of a stream, under their offsets from its beginning. It
/// slides: a writer never waits for a reader. For one thread.
class output_window {
public:
  explicit output_window(std::size_t kept) : kept_{kept} {}

  void append(std::string_view bytes) {
    end_ += bytes.size();
    if (bytes.size() > kept_)
      bytes.remove_prefix(bytes.size() - kept_);
    // A quarter more than the window at most: a byte is moved a few times.
    if (text_.size() + bytes.size() > kept_ + kept_ / 4)
      text_.erase(0, text_.size() + bytes.size() - kept_);
    text_ += bytes;
  }

  std::uint64_t end() const { return end_; }
  std::size_t size() const { return text_.size(); }

  output_piece read(std::uint64_t from, std::size_t most) const {
    const auto visible = std::min<std::uint64_t>(text_.size(), kept_);
    const auto first = end_ - visible;
    output_piece piece;
    piece.from = std::clamp(from, first, end_);
    piece.missed = from < first ? first - from : 0;
    piece.bytes = text_.substr(
      text_.size() - static_cast<std::size_t>(end_ - piece.from), most);
    return piece;
  }

private:
  const std::size_t kept_;
  std::string text_;
  std::uint64_t end_ = 0; // offset behind the last byte
};

} // namespace troupe
