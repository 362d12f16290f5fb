#pragma once

#include "runtime/base/error.hpp"

#include <string>
#include <string_view>

/// Where a page ended, in a form that a client hands back: the part of the last
/// key behind `prefix`, as hex. It cannot leave the prefix, whatever it
/// contains.
namespace troupe::cursor {

std::string encode(std::string_view prefix, std::string_view last_key);

/// The first key of the page behind `after`; `prefix` itself for "".
result<std::string> begin(std::string_view prefix, std::string_view after);

} // namespace troupe::cursor
