#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace troupe::isolation {

// Bounded binary packets between processes of one binary on one machine, in
// that machine's byte order. The reader trusts nothing all the same.

/// No list is longer than this; a filter has some hundreds of items.
inline constexpr std::uint32_t max_items = 8'192;
inline constexpr std::uint32_t max_text = 64u << 10;

class writer {
public:
  template <class T>
  void raw(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view s) {
    raw(static_cast<std::uint32_t>(s.size()));
    out_ += s;
  }
  void flag(bool value) { raw(static_cast<std::uint8_t>(value)); }
  std::string take() { return std::move(out_); }

private:
  std::string out_;
};

class reader {
public:
  reader(const char* data, std::size_t size) : at_{data}, left_{size} {}

  template <class T>
  void raw(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (!take(sizeof value))
      return;
    std::memcpy(&value, at_ - sizeof value, sizeof value);
  }
  void flag(bool& value) {
    std::uint8_t byte = 0;
    raw(byte);
    value = byte != 0;
  }
  void text(std::string& s) {
    std::uint32_t size = 0;
    raw(size);
    if (size > max_text || !take(size))
      good_ = false;
    else
      s.assign(at_ - size, size);
  }
  std::uint32_t count() {
    std::uint32_t n = 0;
    raw(n);
    good_ = good_ && n <= max_items;
    return good_ ? n : 0;
  }
  void refuse() { good_ = false; }
  bool done() const { return good_ && left_ == 0; }
  bool good() const { return good_; }

private:
  bool take(std::size_t n) {
    if (!good_ || n > left_) {
      good_ = false;
      return false;
    }
    at_ += n;
    left_ -= n;
    return true;
  }

  const char* at_;
  std::size_t left_;
  bool good_ = true;
};

} // namespace troupe::isolation
