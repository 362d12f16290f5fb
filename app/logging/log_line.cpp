#include "app/logging/log_line.hpp"

#include "runtime/json/json.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace troupe {

namespace {

using clock = std::chrono::system_clock;

// Longer ones are cut: a log is for reading, and a pipe takes 4 KiB at once.
constexpr std::size_t longest = 2048;

std::string_view cut(std::string_view text) {
  return text.substr(0, longest);
}

std::string spelled_time(clock::time_point at, const char* format) {
  using namespace std::chrono;
  auto since = duration_cast<microseconds>(at.time_since_epoch()).count();
  auto seconds = static_cast<std::time_t>(since / 1'000'000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[48];
  auto size = std::strftime(text, sizeof text, format, &parts);
  std::snprintf(text + size, sizeof text - size, ".%06dZ",
                static_cast<int>(since % 1'000'000));
  return text;
}

// What is counted or measured: programs get these as numbers.
constexpr std::string_view numbers[]
  = {"bytes_out", "count", "duration_us", "port", "status"};

bool is_number(std::string_view name, std::string_view value) {
  constexpr std::size_t most = 15; // digits that a double holds
  return !value.empty() && value.size() <= most
    && std::ranges::find(numbers, name) != std::ranges::end(numbers)
    && value.find_first_not_of("0123456789") == value.npos
    && (value == "0" || value[0] != '0');
}

bool is_plain(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '=' && c != '\\';
  });
}

const char* color_of(log::level l) {
  switch (l) {
  case log::level::error:
    return "\033[31m";
  case log::level::warning:
    return "\033[33m";
  case log::level::debug:
    return "\033[2m";
  case log::level::info:
  case log::level::off:
    break;
  }
  return "";
}

} // namespace

std::string strip_control_characters(std::string_view text) {
  std::string out;
  for (unsigned char c : json::repair_utf8(text)) {
    if (c >= 0x20 && c != 0x7f) {
      out += static_cast<char>(c);
      continue;
    }
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\x%02x", c);
    out += escaped;
  }
  return out;
}

std::string json_line(clock::time_point at, log::level l, std::string_view text,
                      std::span<const log::field> more) {
  std::string out = "{\"time\":\"" + spelled_time(at, "%Y-%m-%dT%H:%M:%S")
    + "\",\"level\":\"" + std::string{to_string(l)} + "\",\"message\":";
  json::append_string(out, cut(text));
  for (auto& [name, value] : more) {
    out += ',';
    json::append_string(out, cut(name));
    out += ':';
    if (is_number(name, value))
      out += value;
    else
      json::append_string(out, cut(value));
  }
  return out + "}\n";
}

std::string text_line(clock::time_point at, log::level l, std::string_view text,
                      std::span<const log::field> more, bool color) {
  std::string mark = color ? color_of(l) : "";
  auto name = std::string{to_string(l)};
  name.resize(8, ' ');
  std::string out = spelled_time(at, "%H:%M:%S") + " " + mark + name;
  out += strip_control_characters(cut(text));
  for (auto& [key, value] : more) {
    out += " " + std::string{cut(key)} + "=";
    if (is_plain(value))
      out += cut(value);
    else
      json::append_string(out, cut(value));
  }
  return out + (mark.empty() ? "\n" : "\033[0m\n");
}

} // namespace troupe
