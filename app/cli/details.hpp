#pragma once

#include "runtime/json/json.hpp"

#include <iosfwd>

namespace troupe {

/// One thing with its members, for people: a line each, what is empty or
/// false left out, a text of several lines as it is. Of the layers of isolation
/// only those that are not enforced.
void print_details(std::ostream& out, const json::value& thing);

/// That on a terminal, else JSON; with `as_json` always JSON.
void show_details(const json::value& thing, bool as_json);

} // namespace troupe
