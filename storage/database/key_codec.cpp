#include "storage/database/key_codec.hpp"

#include <cstddef>

namespace troupe::key_codec {

namespace {

constexpr std::size_t length_bytes = 4;

template <class Number>
void append_big_endian(std::string& out, Number n) {
  for (int shift = 8 * (static_cast<int>(sizeof n) - 1); shift >= 0; shift -= 8)
    out += static_cast<char>((n >> shift) & 0xff);
}

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t n = 0;
  for (char c : bytes)
    n = n << 8 | static_cast<unsigned char>(c);
  return n;
}

// Four bytes are enough: no component comes near 4 GiB, every one that a
// tenant chooses has a limit of its own far below.
void append(std::string& out, std::string_view component) {
  append_big_endian(out, static_cast<std::uint32_t>(component.size()));
  out += component;
}

error foreign_key() {
  return {ec::internal,
          "a key in the store is not spelled as keys are; the "
          "store is damaged, restore a backup",
          {},
          {}};
}

} // namespace

std::string encode(std::initializer_list<std::string_view> components) {
  std::string out;
  std::size_t bytes = 0;
  for (auto c : components)
    bytes += length_bytes + c.size();
  out.reserve(bytes);
  for (auto c : components)
    append(out, c);
  return out;
}

std::string encode(const organization_id& organization,
                   std::initializer_list<std::string_view> rest) {
  std::string out;
  append(out, organization.str());
  return out += encode(rest);
}

std::string encode_global(std::initializer_list<std::string_view> rest) {
  return encode(organization_id{}, rest);
}

result<std::vector<std::string_view>> split(std::string_view key) {
  std::vector<std::string_view> components;
  while (!key.empty()) {
    if (key.size() < length_bytes)
      return foreign_key();
    auto size = big_endian(key.substr(0, length_bytes));
    key.remove_prefix(length_bytes);
    if (key.size() < size)
      return foreign_key();
    components.push_back(key.substr(0, size));
    key.remove_prefix(size);
  }
  return components;
}

std::string number(std::uint64_t n) {
  std::string out;
  append_big_endian(out, n);
  return out;
}

result<std::uint64_t> read_number(std::string_view bytes) {
  if (bytes.size() != sizeof(std::uint64_t))
    return foreign_key();
  return big_endian(bytes);
}

std::string prefix_end(std::string_view prefix) {
  std::string end{prefix};
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff)
    end.pop_back();
  if (!end.empty())
    end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

} // namespace troupe::key_codec
