#include "net/grpc/protobuf.hpp"

#include <bit>

namespace troupe::net::protobuf {

namespace {

enum wire : int { varint_type = 0, fixed64 = 1, delimited = 2, fixed32 = 5 };

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return value;
}

} // namespace

// -- writing -----------------------------------------------------------------

void writer::varint(std::uint64_t value) {
  while (value >= 0x80) {
    bytes_ += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  bytes_ += static_cast<char>(value);
}

void writer::key(int field, int wire_type) {
  varint(static_cast<std::uint64_t>(field) << 3
         | static_cast<std::uint64_t>(wire_type));
}

writer& writer::present_text(int field, std::string_view value) {
  key(field, delimited);
  varint(value.size());
  bytes_ += value;
  return *this;
}

writer& writer::text(int field, std::string_view value) {
  return value.empty() ? *this : present_text(field, value);
}

writer& writer::present_number(int field, std::uint64_t value) {
  key(field, varint_type);
  varint(value);
  return *this;
}

writer& writer::number(int field, std::uint64_t value) {
  return value == 0 ? *this : present_number(field, value);
}

writer& writer::flag(int field, bool value) {
  return number(field, value);
}

writer& writer::real(int field, float value) {
  if (value == 0)
    return *this;
  key(field, fixed32);
  auto bits = std::bit_cast<std::uint32_t>(value);
  for (int i = 0; i < 4; ++i)
    bytes_ += static_cast<char>(bits >> (8 * i));
  return *this;
}

writer& writer::real64(int field, double value) {
  if (value == 0)
    return *this;
  key(field, fixed64);
  auto bits = std::bit_cast<std::uint64_t>(value);
  for (int i = 0; i < 8; ++i)
    bytes_ += static_cast<char>(bits >> (8 * i));
  return *this;
}

writer& writer::message(int field, const writer& value) {
  return present_text(field, value.bytes());
}

writer& writer::entry(int field, std::string_view key, std::string_view value) {
  writer pair;
  pair.present_text(1, key).present_text(2, value);
  return message(field, pair);
}

// -- reading -----------------------------------------------------------------

float field::as_float() const {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value));
}

bool reader::broken() {
  broken_ = true;
  rest_ = {};
  return false;
}

bool reader::varint(std::uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (rest_.empty())
      return broken();
    auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    // The tenth byte has room for one bit.
    if (shift == 63 && byte > 1)
      return broken();
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80)
      return true;
  }
  return broken();
}

bool reader::take(std::size_t size, std::string_view& bytes) {
  if (size > rest_.size())
    return broken();
  bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

bool reader::next(field& into) {
  if (rest_.empty())
    return false;
  std::uint64_t key = 0;
  if (!varint(key))
    return false;
  into = {};
  if (key >> 3 == 0 || key >> 3 > 0x1fffffff)
    return broken();
  into.number = static_cast<int>(key >> 3);
  into.wire_type = static_cast<int>(key & 7);
  std::string_view bytes;
  switch (into.wire_type) {
  case varint_type:
    return varint(into.value);
  case fixed64:
  case fixed32:
    if (!take(into.wire_type == fixed64 ? 8 : 4, bytes))
      return false;
    into.value = little_endian(bytes);
    return true;
  case delimited: {
    std::uint64_t size = 0;
    return varint(size) && take(size, into.bytes);
  }
  default: // groups are of another century
    return broken();
  }
}

result<void> reader::status() const {
  if (broken_)
    return error{ec::unavailable, "a broken protobuf message", {}, {}};
  return {};
}

} // namespace troupe::net::protobuf
