#include "runtime/settings/value.hpp"

#include "runtime/model/codec/size_units.hpp"
#include "runtime/settings/value_format.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace troupe {

namespace {

using std::chrono::milliseconds;

// Beyond this a double no longer holds every whole number.
constexpr double exact = 9007199254740992.0;

/// Rounded to a whole number that `min` and `max` of the key allow.
result<double> within(const setting_key& key, result<double> value) {
  if (!value)
    return value;
  if (*value < key.min || *value > key.max || std::fabs(*value) > exact)
    return bad_request("is out of range");
  return value;
}

/// Everything that Pydantic takes for one, since Letta's variables go there.
result<bool> read_flag(std::string_view text) {
  constexpr std::string_view yes[] = {"true", "t", "yes", "y", "on", "1"};
  constexpr std::string_view no[] = {"false", "f", "no", "n", "off", "0"};
  const auto is = [text](std::string_view word) {
    return std::ranges::equal(text, word, {}, [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    });
  };
  if (std::ranges::any_of(yes, is))
    return true;
  if (std::ranges::any_of(no, is))
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
  auto number = within(key, parse_number(text));
  if (!number)
    return number.error();
  if (*number != std::floor(*number))
    return bad_request("is not a whole number");
  *to = static_cast<std::uint32_t>(*number);
  return {};
}

result<void> read_into(std::uint64_t* to, const setting_key& key,
                       std::string_view text) {
  auto number
    = within(key, key.is_count ? parse_number(text) : parse_bytes(text));
  if (!number)
    return number.error();
  if (key.is_count && *number != std::floor(*number))
    return bad_request("is not a whole number");
  *to = static_cast<std::uint64_t>(*number);
  return {};
}

result<void> read_into(double* to, const setting_key& key,
                       std::string_view text) {
  auto number = within(key, parse_number(text));
  if (!number)
    return number.error();
  *to = *number;
  return {};
}

result<void> read_into(milliseconds* to, const setting_key& key,
                       std::string_view text) {
  auto bare = parse_number(text);
  auto value
    = within(key, bare && *bare == 0 ? bare : parse_milliseconds(text));
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
      return bad_request("has '" + item.substr(0, 80) + "', which "
                         + fine.error().text);
  }
  *to = std::move(items);
  return {};
}

result<void> read_into(std::vector<std::string>* to, const setting_key& key,
                       std::string_view text) {
  std::vector<std::string> items;
  while (!trim(text).empty()) {
    auto comma = text.find(',');
    items.emplace_back(trim(text.substr(0, comma)));
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
    [&](auto* slot) { return read_into(slot, key, trim(text)); },
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
  if (auto count = std::get_if<std::uint64_t*>(&slot); count && key.is_count)
    return std::to_string(**count);
  return std::visit([](auto* value) { return spell(*value); }, slot);
}

result<milliseconds> parse_duration(std::string_view text) {
  auto value = parse_milliseconds(text);
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
  auto value = parse_bytes(text);
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
