#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace troupe {

/// A random UUID of version 4, lower case.
std::string make_uuid();

/// Accepts `prefix` + "-" + UUID version 4, and nothing else.
bool is_id(std::string_view prefix, std::string_view text);

/// What is behind the prefix of an id: the sixteen bytes of a UUID, so that a
/// run's ids are handed on without asking the heap for room; and for what is no
/// UUID, but was taken as it came, its text.
class id_value {
public:
  id_value() = default;
  id_value(std::string_view prefix, std::string text);
  id_value(const id_value& other)
      : high_{other.high_}, low_{other.low_}, odd_{copy_of(other.odd_)} {}
  id_value(id_value&&) noexcept = default;
  id_value& operator=(const id_value& other) { return *this = id_value{other}; }
  id_value& operator=(id_value&&) noexcept = default;

  static id_value make();

  bool empty() const noexcept { return low_ == 0 && !odd_; }
  std::string text(std::string_view prefix) const;
  std::size_t hash() const noexcept;

  bool is_uuid() const noexcept { return low_ != 0; }
  friend bool operator==(const id_value& a, const id_value& b) noexcept {
    if (a.odd_ || b.odd_)
      return a.odd_ && b.odd_ && *a.odd_ == *b.odd_;
    return a.high_ == b.high_ && a.low_ == b.low_;
  }
  /// As the bytes are ordered, which is as their text is.
  std::strong_ordering order(const id_value& other) const noexcept {
    const auto first = high_ <=> other.high_;
    return first != 0 ? first : low_ <=> other.low_;
  }

private:
  using odd_text = std::unique_ptr<const std::string>;
  static odd_text copy_of(const odd_text& text) {
    return text ? std::make_unique<const std::string>(*text) : nullptr;
  }

  // The first and the last eight bytes; of a UUID `low_` is never zero.
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
  odd_text odd_;
};

} // namespace troupe
