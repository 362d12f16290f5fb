#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace troupe {

/// Reads along with what a peer sends to the middleman, which believes every
/// header: thirty-two bytes that announce four gigabytes would be allocated.
/// BASP of CAF 0.17: operation, three bytes of flags, length of the payload,
/// then twenty-four bytes that are no concern of ours.
class basp_frame_limit {
public:
  /// `largest`: bytes of one message.
  explicit basp_frame_limit(std::uint64_t largest) : largest_{largest} {}

  /// False: drop the link.
  bool feed(const unsigned char* bytes, std::size_t n) {
    while (n > 0) {
      const auto k = left_ > 0 ? std::size_t(std::min<std::uint64_t>(left_, n))
                               : std::min(n, sizeof header_ - have_);
      if (left_ > 0) {
        left_ -= k;
      } else {
        std::memcpy(header_ + have_, bytes, k);
        have_ += k;
      }
      bytes += k;
      n -= k;
      if (have_ < sizeof header_)
        continue;
      have_ = 0;
      left_ = std::uint64_t(header_[4]) << 24 | std::uint64_t(header_[5]) << 16
        | std::uint64_t(header_[6]) << 8 | std::uint64_t(header_[7]);
      beats_ = beats_ || header_[0] == heartbeat;
      if (header_[0] > last_operation || left_ > largest_)
        return false;
    }
    return true;
  }

  /// Whether the peer is one of those that send heartbeats.
  bool heard_heartbeat() const { return beats_; }

private:
  static constexpr unsigned char heartbeat = 6;
  static constexpr unsigned char last_operation = heartbeat;

  std::uint64_t largest_;
  std::uint64_t left_ = 0; // of a payload
  unsigned char header_[32] = {};
  std::size_t have_ = 0; // of the header
  bool beats_ = false;
};

} // namespace troupe
