#pragma once

#include "runtime/base/error.hpp"
#include "runtime/base/secret.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace troupe {

/// Where randomness comes from. Tests hand in one that fails or repeats;
/// nothing ever falls back to another one.
using random_source = std::function<result<void>(std::span<std::uint8_t>)>;
random_source system_random();

/// A key for AES-256 or HMAC: moved, never copied, wiped when it goes away.
class key_bytes {
public:
  static constexpr std::size_t size = 32;

  key_bytes() = default;
  static result<key_bytes> random(const random_source& source);
  /// Exactly 32 bytes.
  static result<key_bytes> from(std::string_view bytes);

  key_bytes(key_bytes&& other) noexcept;
  key_bytes& operator=(key_bytes&& other) noexcept;
  key_bytes(const key_bytes&) = delete;
  key_bytes& operator=(const key_bytes&) = delete;
  ~key_bytes() { wipe(bytes_.data(), bytes_.size()); }

  const std::uint8_t* data() const noexcept { return bytes_.data(); }
  std::string_view view() const noexcept;
  /// The same key again, where one is really needed twice.
  key_bytes clone() const;

private:
  std::array<std::uint8_t, size> bytes_{};
};

/// HMAC-SHA256: 32 bytes.
std::string hmac(const key_bytes& key, std::string_view text);

/// Each part behind its length in eight bytes: what a tag or a digest covers.
/// Joining with a character would let parts move across the border.
std::string length_prefixed(std::initializer_list<std::string_view> parts);

} // namespace troupe
