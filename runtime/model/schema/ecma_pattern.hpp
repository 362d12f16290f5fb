#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// The same regular expression in RE2's language. Nothing where ECMA-262 means
/// what RE2 has no word for (look-around, back references), and where the two
/// would understand one text differently.
std::optional<std::string> to_re2(std::string_view ecma);

} // namespace troupe
