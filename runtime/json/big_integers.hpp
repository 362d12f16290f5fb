#pragma once

#include "runtime/json/json.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>

/// Integers that 64 bits cannot hold. We have no use for one, and `parse`
/// refuses them; the arguments of a tool may have them, and they reach it as
/// they came.
///
/// In a tree such an integer is a string that no JSON text can make, since it
/// is not UTF-8: 0xff and its digits. Only `exact_text` writes it as a number,
/// and only what is parsed here holds one.
namespace troupe::json {

/// Inside of which values they may stand: pointers, `*` for each item of an
/// array, "" for everywhere.
using large_places = std::span<const std::string_view>;
inline constexpr std::array<std::string_view, 1> anywhere{""};

result<value> parse_large(std::string_view text, large_places places,
                          const parse_limits& limits = {});
result<object> parse_large_object(std::string_view text, large_places places,
                                  const parse_limits& limits = {});
/// Whether `parse_large_object` would take `text`, with them everywhere.
result<void> check_large_object(std::string_view text,
                                const parse_limits& limits = {});

bool is_large(const value& v) noexcept;
/// What a double makes of a number, also of a large one: perhaps infinity.
double to_double(const value& number);

std::string exact_text(const value& v);
std::string exact_text(const object& o);

} // namespace troupe::json
