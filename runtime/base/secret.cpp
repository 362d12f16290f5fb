#include "runtime/base/secret.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace troupe {

void wipe(void* data, std::size_t size) noexcept {
  if (size == 0)
    return;
  std::memset(data, 0, size);
  // The barrier makes the stores visible to "somebody", so they stay.
  __asm__ __volatile__("" : : "r"(data) : "memory");
}

void mask_secret(std::string& text, const secret& value) {
  const auto& plain = value.reveal();
  if (plain.size() < 4)
    return;
  for (std::size_t at = 0; (at = text.find(plain, at)) != std::string::npos;)
    text.replace(at, plain.size(), "***");
}

void wipe(std::string& text) noexcept {
  wipe(text.data(), text.capacity());
  text.clear();
}

void reserve_wiping(std::string& text, std::size_t more) {
  const auto needed = text.size() + more;
  if (needed <= text.capacity())
    return;
  std::string larger;
  larger.reserve(std::max(needed, 2 * text.capacity()));
  larger.append(text);
  text.swap(larger);
  wipe(larger);
}

bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size())
    return false;
  unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

// A moved-from string may keep its bytes in its small buffer: wipe those too.
secret::secret(std::string text) : text_{std::move(text)} {
  wipe(text.data(), text.capacity());
}

secret::secret(secret&& other) noexcept : text_{std::move(other.text_)} {
  wipe(other.text_.data(), other.text_.capacity());
  other.text_.clear();
}

secret& secret::operator=(const secret& other) {
  if (this != &other) {
    secret copy{other};
    *this = std::move(copy);
  }
  return *this;
}

secret& secret::operator=(secret&& other) noexcept {
  if (this != &other) {
    wipe(text_.data(), text_.capacity());
    text_ = std::move(other.text_);
    wipe(other.text_.data(), other.text_.capacity());
    other.text_.clear();
  }
  return *this;
}

secret::~secret() {
  wipe(text_.data(), text_.capacity());
}

} // namespace troupe
