#include "runtime/settings/value.hpp"

#include "runtime/settings/form.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace troupe {

namespace {

using std::chrono::milliseconds;

struct unit {
  std::string_view name;
  double factor;
};

constexpr unit durations[]
  = {{"ms", 1},     {"s", 1'000},     {"min", 60'000},
     {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};

constexpr unit sizes[] = {{"", 1},      {"B", 1},          {"KiB", 1ull << 10},
                          {"KB", 1e3},  {"K", 1ull << 10}, {"MiB", 1ull << 20},
                          {"MB", 1e6},  {"M", 1ull << 20}, {"GiB", 1ull << 30},
                          {"GB", 1e9},  {"G", 1ull << 30}, {"TiB", 1ull << 40},
                          {"TB", 1e12}, {"T", 1ull << 40}};

// Beyond this a double no longer holds every whole number.
constexpr double exact = 9007199254740992.0;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  auto first = text.find_first_not_of(blank);
  if (first == text.npos)
    return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

/// A decimal number that is finite and uses the whole text.
result<double> read_number(std::string_view text) {
  double value = 0;
  auto* end = text.data() + text.size();
  auto [at, bad]
    = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (bad != std::errc{} || at != end || !std::isfinite(value))
    return bad_request("is no number");
  return value;
}

template <std::size_t N>
result<double> read_with_unit(std::string_view text, const unit (&units)[N]) {
  auto split = text.find_first_not_of("0123456789.+-");
  auto number = read_number(trimmed(text.substr(0, split)));
  if (!number)
    return number;
  auto name = split == text.npos ? "" : trimmed(text.substr(split));
  for (auto& u : units)
    if (u.name == name)
      return *number * u.factor;
  return bad_request(name.empty() ? "has no unit" : "has an unknown unit");
}

/// Rounded to a whole number that `min` and `max` of the key allow.
result<double> within(const setting_key& key, result<double> value) {
  if (!value)
    return value;
  if (*value < key.min || *value > key.max || std::fabs(*value) > exact)
    return bad_request("is out of range");
  return value;
}

result<bool> read_flag(std::string_view text) {
  if (text == "true" || text == "yes" || text == "on" || text == "1")
    return true;
  if (text == "false" || text == "no" || text == "off" || text == "0")
    return false;
  return bad_request("is neither true nor false");
}

result<void> read_into(bool* to, const setting_key&, std::string_view text) {
  auto flag = read_flag(text);
  if (!flag)
    return flag.error();
  *to = *flag;
  return {};
}

result<void> read_into(std::uint32_t* to, const setting_key& key,
                       std::string_view text) {
  auto number = within(key, read_number(text));
  if (!number)
    return number.error();
  if (*number != std::floor(*number))
    return bad_request("is not a whole number");
  *to = static_cast<std::uint32_t>(*number);
  return {};
}

result<void> read_into(std::uint64_t* to, const setting_key& key,
                       std::string_view text) {
  auto bytes = within(key, read_with_unit(text, sizes));
  if (!bytes)
    return bytes.error();
  *to = static_cast<std::uint64_t>(*bytes);
  return {};
}

result<void> read_into(double* to, const setting_key& key,
                       std::string_view text) {
  auto number = within(key, read_number(text));
  if (!number)
    return number.error();
  *to = *number;
  return {};
}

result<void> read_into(milliseconds* to, const setting_key& key,
                       std::string_view text) {
  auto bare = read_number(text);
  auto value
    = within(key, bare && *bare == 0 ? bare : read_with_unit(text, durations));
  if (!value)
    return value.error();
  *to = milliseconds{static_cast<std::int64_t>(std::llround(*value))};
  return {};
}

result<void> read_into(std::string* to, const setting_key& key,
                       std::string_view text) {
  if (auto fine = check_form(key, text); !fine)
    return fine;
  *to = std::string{text};
  return {};
}

result<void> read_into(secret* to, const setting_key& key,
                       std::string_view text) {
  if (auto fine = check_form(key, text); !fine)
    return fine;
  *to = secret{std::string{text}};
  return {};
}

result<void> store_items(std::vector<std::string>* to, const setting_key& key,
                         std::vector<std::string> items) {
  constexpr std::size_t most = 1024; // a list for people to read
  if (items.size() > most)
    return bad_request("has more than 1024 entries");
  for (auto& item : items) {
    if (item.empty())
      return bad_request("has an empty entry");
    if (auto fine = check_form(key, item); !fine)
      return fine;
  }
  *to = std::move(items);
  return {};
}

result<void> read_into(std::vector<std::string>* to, const setting_key& key,
                       std::string_view text) {
  std::vector<std::string> items;
  while (!trimmed(text).empty()) {
    auto comma = text.find(',');
    items.emplace_back(trimmed(text.substr(0, comma)));
    text = comma == text.npos ? "" : text.substr(comma + 1);
  }
  return store_items(to, key, std::move(items));
}

std::string spell(bool value) {
  return value ? "true" : "false";
}
std::string spell(std::uint32_t value) {
  return std::to_string(value);
}
std::string spell(std::uint64_t value) {
  return quoted(spell_size(value));
}
std::string spell(double value) {
  char text[32];
  auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}
std::string spell(milliseconds value) {
  return spell_duration(value);
}
std::string spell(const std::string& value) {
  return quoted(value);
}
std::string spell(const secret& value) {
  return value.empty() ? "\"\"" : "\"***\"";
}
std::string spell(const std::vector<std::string>& items) {
  std::string text = "[";
  for (auto& item : items)
    text += (text.size() > 1 ? ", " : "") + quoted(item);
  return text + "]";
}

} // namespace

result<void> assign(settings& into, const setting_key& key,
                    std::string_view text) {
  return std::visit(
    [&](auto* slot) { return read_into(slot, key, trimmed(text)); },
    key.slot(into));
}

result<void> assign_items(settings& into, const setting_key& key,
                          std::vector<std::string> items) {
  auto slot = key.slot(into);
  if (auto list = std::get_if<std::vector<std::string>*>(&slot))
    return store_items(*list, key, std::move(items));
  return bad_request("is a list");
}

std::string spelled(const settings& from, const setting_key& key) {
  // The table's accessors hand out writable slots; this one is only read.
  auto slot = key.slot(const_cast<settings&>(from));
  return std::visit([](auto* value) { return spell(*value); }, slot);
}

result<milliseconds> parse_duration(std::string_view text) {
  auto value = read_with_unit(trimmed(text), durations);
  if (!value)
    return value.error();
  if (*value < 0 || *value > exact)
    return bad_request("is out of range");
  return milliseconds{static_cast<std::int64_t>(std::llround(*value))};
}

std::string spell_duration(milliseconds value) {
  auto n = value.count();
  if (n == 0)
    return "0s";
  for (auto [name, factor] :
       {std::pair{"h", 3'600'000}, {"min", 60'000}, {"s", 1'000}})
    if (n % factor == 0)
      return std::to_string(n / factor) + name;
  return std::to_string(n) + "ms";
}

result<std::uint64_t> parse_size(std::string_view text) {
  auto value = read_with_unit(trimmed(text), sizes);
  if (!value)
    return value.error();
  if (*value < 0 || *value > exact)
    return bad_request("is out of range");
  return static_cast<std::uint64_t>(*value);
}

std::string spell_size(std::uint64_t bytes) {
  constexpr const char* names[] = {"TiB", "GiB", "MiB", "KiB"};
  for (int i = 0; i < 4; ++i) {
    auto factor = 1ull << (10 * (4 - i));
    if (bytes != 0 && bytes % factor == 0)
      return std::to_string(bytes / factor) + names[i];
  }
  return std::to_string(bytes);
}

} // namespace troupe
