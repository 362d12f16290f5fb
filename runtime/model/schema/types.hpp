#pragma once

#include "runtime/json/json.hpp"

#include <cstdint>
#include <string_view>

/// The types of JSON Schema, and what a text may become. Private to
/// bind_arguments.cpp.
namespace troupe::schema {

/// A set of types.
using types = std::uint8_t;
inline constexpr types null_type = 1;
inline constexpr types boolean_type = 2;
inline constexpr types integer_type = 4;
inline constexpr types number_type = 8; // holds integers as well
inline constexpr types string_type = 16;
inline constexpr types array_type = 32;
inline constexpr types object_type = 64;
inline constexpr types every_type = 127;

/// The type of a value; a whole number is both an integer and a number.
types type_of(const json::value& v);
/// "integer" and so on; nothing for an unknown word.
types type_named(std::string_view name);
/// "integer or null", for people.
std::string describe(types t);
std::string_view describe(const json::value& v);

/// Replaces a text by the value it spells when its type is wanted and text is
/// not; a whole double by an integer when only that is wanted.
void coerce(json::value& v, types wanted);

/// The same, and further: what Python's own types make of a value, where that
/// is obvious. What it is of no use to stays as it is.
void soften(json::value& v, types wanted);

/// Equal as JSON Schema has it: 1 and 1.0 are.
bool equal(const json::value& a, const json::value& b);

} // namespace troupe::schema
