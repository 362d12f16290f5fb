#pragma once

#include "runtime/base/error.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include <cstddef>
#include <string>
#include <string_view>

/// JSON that survives hostile input, both ways.
namespace troupe::json {

using boost::json::array;
using boost::json::object;
using boost::json::value;
using boost::json::value_ref;

struct parse_limits {
  std::size_t depth = 64;
  std::size_t bytes = 16u << 20;
  /// The text may hold secrets: whatever was kept of it is wiped when it goes.
  bool wiped = false;
};

/// RFC 8259 and nothing more: UTF-8 checked, no duplicate names, no NaN, no
/// lone surrogates, no number that a double or a 64 bit integer cannot hold
/// (1e999, 2^64 as an integer).
result<value> parse(std::string_view text, const parse_limits& limits = {});
result<object> parse_object(std::string_view text,
                            const parse_limits& limits = {});

/// Whether `text` is one valid JSON value by the rules of `parse`, but with
/// numbers of any size: for values that we hand on as text. Builds nothing.
result<void> check(std::string_view text, const parse_limits& limits = {});

/// Whether `parse_object` would take `text`, by the same rules. Builds nothing.
result<void> check_object(std::string_view text,
                          const parse_limits& limits = {});

/// Overwrites every text in it.
void wipe_texts(value& v) noexcept;

/// Compact text. Never NaN, never invalid UTF-8.
std::string to_text(const value& v);
std::string to_text(const object& o);

/// Names sorted by code point at every level, no blanks, non-ASCII as \uXXXX:
/// the text that fingerprints cover. It is made at one place: nothing of it is
/// left in memory but what is answered.
std::string to_canonical(const value& v);

/// Appends `text` as a JSON string, quotes included. Invalid UTF-8 becomes
/// U+FFFD, so that the result is always valid.
void append_string(std::string& out, std::string_view text);

/// Replaces every invalid UTF-8 sequence by U+FFFD.
std::string repair_utf8(std::string_view bytes);
bool is_utf8(std::string_view bytes) noexcept;

/// Joins a pointer and one more name, escaped (RFC 6901).
std::string child(std::string_view pointer, std::string_view name);
std::string child(std::string_view pointer, std::size_t index);

} // namespace troupe::json
