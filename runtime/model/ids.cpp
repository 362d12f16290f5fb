#include "runtime/model/ids.hpp"

#include "runtime/random.hpp"

#include <array>
#include <cstdint>

namespace troupe {

namespace {

constexpr std::string_view hex = "0123456789abcdef";

bool is_uuid4(std::string_view s) {
  if (s.size() != 36)
    return false;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (s[i] != '-')
        return false;
    } else if (!((s[i] >= '0' && s[i] <= '9')
                 || (s[i] >= 'a' && s[i] <= 'f'))) {
      return false;
    }
  }
  return s[14] == '4'
    && (s[19] == '8' || s[19] == '9' || s[19] == 'a' || s[19] == 'b');
}

} // namespace

std::string make_uuid() {
  std::array<std::uint8_t, 16> bytes;
  random_bytes(bytes);
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3f) | 0x80);
  std::string text(36, '-');
  auto* to = text.data();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10)
      ++to;
    *to++ = hex[bytes[i] >> 4];
    *to++ = hex[bytes[i] & 15];
  }
  return text;
}

bool is_id(std::string_view prefix, std::string_view text) {
  return text.size() == prefix.size() + 37 && text.starts_with(prefix)
    && text[prefix.size()] == '-' && is_uuid4(text.substr(prefix.size() + 1));
}

organization_id default_organization() {
  return organization_id{"org-00000000-0000-4000-8000-000000000000"};
}

user_id default_user() {
  return user_id{"user-00000000-0000-4000-8000-000000000000"};
}

} // namespace troupe
