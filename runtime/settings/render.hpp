#pragma once

#include "runtime/json/json.hpp"
#include "runtime/settings/layers.hpp"

#include <string>
#include <string_view>

namespace troupe {

/// The config.ini of the repository: every setting, commented out, with its
/// help, its range and its names in the environment.
std::string render_ini();

/// What is in force, as a config.ini; with the origin of each value in a
/// comment when asked for. Secrets are masked.
std::string render_values(const configuration& c, bool with_origin);

/// The same for programs: {"http": {"listen": {"value": ..., "origin": ...}}}.
json::object values_json(const configuration& c);

/// Every setting of a group (or of all, when it is empty) for people.
std::string render_keys(std::string_view group);
json::array keys_json(std::string_view group);

} // namespace troupe
