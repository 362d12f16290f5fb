// One spelling of durations and sizes, for settings and for requests.
#include "runtime/model/codec/size_units.hpp"

#include <charconv>
#include <cmath>
#include <span>

namespace troupe {

namespace {

struct unit {
  std::string_view name;
  double factor;
};

constexpr unit time_units[] = {{"ms", 1},   {"s", 1e3},    {"min", 60e3},
                               {"m", 60e3}, {"h", 3600e3}, {"d", 86'400e3}};

constexpr unit byte_units[]
  = {{"", 1},         {"B", 1},        {"KiB", 0x1p10}, {"KB", 1e3},
     {"K", 0x1p10},   {"MiB", 0x1p20}, {"MB", 1e6},     {"M", 0x1p20},
     {"GiB", 0x1p30}, {"GB", 1e9},     {"G", 0x1p30},   {"TiB", 0x1p40},
     {"TB", 1e12},    {"T", 0x1p40}};

result<double> read_quantity(std::string_view text,
                             std::span<const unit> units) {
  text = trim(text);
  auto split = text.find_first_not_of("0123456789.+-");
  auto number = parse_number(trim(text.substr(0, split)));
  if (!number)
    return number;
  auto name = split == text.npos ? "" : trim(text.substr(split));
  for (auto& u : units)
    if (u.name == name)
      return *number * u.factor;
  return bad_request(name.empty() ? "has no unit" : "has an unknown unit");
}

} // namespace

result<double> parse_number(std::string_view text) {
  double value = 0;
  auto* end = text.data() + text.size();
  auto [at, bad]
    = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (bad != std::errc{} || at != end || !std::isfinite(value))
    return bad_request("is not a number");
  return value;
}

result<double> parse_milliseconds(std::string_view text) {
  return read_quantity(text, time_units);
}

result<double> parse_bytes(std::string_view text) {
  return read_quantity(text, byte_units);
}

} // namespace troupe
