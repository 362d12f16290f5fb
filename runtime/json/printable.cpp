#include "runtime/json/printable.hpp"

#include "runtime/json/json.hpp"

namespace troupe {

namespace {

constexpr std::size_t max_bytes = 200;

} // namespace

std::string printable(std::string_view text) {
  std::string out;
  for (char c : json::repair_utf8(text.substr(0, max_bytes))) {
    auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  return out;
}

} // namespace troupe
