#include "storage/database/cursor.hpp"

#include "runtime/base/digest.hpp"

#include <charconv>
#include <cstdint>
#include <span>

namespace troupe::cursor {

namespace {

constexpr std::size_t max_digits = 2'048;

error unknown() {
  return bad_field("/after", "is not a cursor of this list",
                   "use `next` of the previous page, or leave it out");
}

} // namespace

std::string encode(std::string_view prefix, std::string_view last_key) {
  auto rest = last_key.substr(prefix.size());
  return hex(
    std::span{reinterpret_cast<const std::uint8_t*>(rest.data()), rest.size()});
}

result<std::string> begin(std::string_view prefix, std::string_view after) {
  std::string key{prefix};
  if (after.empty())
    return key;
  if (after.size() % 2 != 0 || after.size() > max_digits)
    return unknown();
  for (std::size_t i = 0; i < after.size(); i += 2) {
    unsigned byte = 0;
    const auto* end = after.data() + i + 2;
    auto read = std::from_chars(after.data() + i, end, byte, 16);
    if (read.ec != std::errc{} || read.ptr != end)
      return unknown();
    key += static_cast<char>(byte);
  }
  key += '\0'; // the next possible key
  return key;
}

} // namespace troupe::cursor
