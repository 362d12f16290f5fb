#include "runtime/model/codec/codec.hpp"

#include <cstdio>

namespace troupe {

namespace {

using std::chrono::microseconds;

/// Reads exactly `digits` digits at `at`, then steps behind them.
bool read_number(std::string_view text, std::size_t& at, std::size_t digits,
                 int& out) {
  out = 0;
  for (std::size_t i = 0; i < digits; ++i, ++at) {
    if (at >= text.size() || text[at] < '0' || text[at] > '9')
      return false;
    out = out * 10 + (text[at] - '0');
  }
  return true;
}

bool read_char(std::string_view text, std::size_t& at, std::string_view any) {
  if (at >= text.size() || any.find(text[at]) == any.npos)
    return false;
  ++at;
  return true;
}

/// ".123456": any number of digits, of which six count.
bool read_fraction(std::string_view text, std::size_t& at,
                   microseconds& fraction) {
  if (!read_char(text, at, "."))
    return true;
  int unit = 100'000;
  auto first = at;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    fraction += microseconds{(text[at] - '0') * unit};
    unit /= 10;
  }
  return at > first;
}

/// "Z", "+02:00", "-0130".
bool read_offset(std::string_view text, std::size_t& at,
                 std::chrono::minutes& offset) {
  if (read_char(text, at, "Zz"))
    return true;
  bool west = at < text.size() && text[at] == '-';
  int hours = 0, minutes = 0;
  if (!read_char(text, at, "+-") || !read_number(text, at, 2, hours))
    return false;
  read_char(text, at, ":");
  if (!read_number(text, at, 2, minutes) || hours > 23 || minutes > 59)
    return false;
  offset = std::chrono::minutes{(hours * 60 + minutes) * (west ? -1 : 1)};
  return true;
}

} // namespace

std::string to_text(timestamp t) {
  namespace c = std::chrono;
  auto day = c::floor<c::days>(t);
  c::year_month_day date{day};
  c::hh_mm_ss time{t - day};
  char text[64];
  std::snprintf(
    text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ",
    static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
    static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
    static_cast<int>(time.minutes().count()),
    static_cast<int>(time.seconds().count()),
    static_cast<int>(time.subseconds().count()));
  return text;
}

result<timestamp> parse_timestamp(std::string_view text) {
  namespace c = std::chrono;
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  microseconds fraction{0};
  c::minutes offset{0};
  std::size_t at = 0;
  bool good = read_number(text, at, 4, year) && read_char(text, at, "-")
    && read_number(text, at, 2, month) && read_char(text, at, "-")
    && read_number(text, at, 2, day) && read_char(text, at, "Tt ")
    && read_number(text, at, 2, hour) && read_char(text, at, ":")
    && read_number(text, at, 2, minute) && read_char(text, at, ":")
    && read_number(text, at, 2, second) && read_fraction(text, at, fraction)
    && read_offset(text, at, offset) && at == text.size();
  c::year_month_day date{c::year{year}, c::month{static_cast<unsigned>(month)},
                         c::day{static_cast<unsigned>(day)}};
  if (!good || !date.ok() || hour > 23 || minute > 59 || second > 60)
    return bad_field("",
                     "'" + std::string{text.substr(0, 40)} + "' is not a time",
                     "write 2026-11-18T09:30:00Z");
  return timestamp{c::sys_days{date}} + c::hours{hour} + c::minutes{minute}
  + c::seconds{second} + fraction - offset;
}

timestamp now() {
  return std::chrono::floor<microseconds>(std::chrono::system_clock::now());
}

} // namespace troupe
