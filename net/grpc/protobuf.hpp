#pragma once

#include "runtime/base/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

/// As much of protobuf's wire format as a client of one service needs: fields
/// by number, no descriptors, no generated code.
namespace troupe::net::protobuf {

/// Appends fields to a message. Zero values are left out, as proto3 does,
/// except by the functions whose field has explicit presence.
class writer {
public:
  writer& text(int field, std::string_view value);
  writer& number(int field, std::uint64_t value);
  writer& real(int field, float value);
  writer& real64(int field, double value);
  writer& flag(int field, bool value);
  /// Also when empty: its presence says something.
  writer& message(int field, const writer& value);
  writer& present_text(int field, std::string_view value);
  writer& present_number(int field, std::uint64_t value);
  /// One entry of a map<string, string>.
  writer& entry(int field, std::string_view key, std::string_view value);

  const std::string& bytes() const { return bytes_; }

private:
  void key(int field, int wire_type);
  void varint(std::uint64_t value);

  std::string bytes_;
};

/// One field as it comes by. Text and messages are views into the input.
struct field {
  int number = 0;
  int wire_type = 0;
  std::uint64_t value = 0; // varints and fixed ones
  std::string_view bytes;  // length-delimited ones

  float as_float() const;
};

/// Walks over the fields of one message. Unknown ones are the caller's to
/// skip; broken bytes end the walk with an error.
class reader {
public:
  explicit reader(std::string_view bytes) : rest_{bytes} {}

  /// False at the end and on broken bytes.
  bool next(field& into);
  result<void> status() const;

private:
  bool varint(std::uint64_t& value);
  bool take(std::size_t size, std::string_view& bytes);
  bool broken();

  std::string_view rest_;
  bool broken_ = false;
};

} // namespace troupe::net::protobuf
