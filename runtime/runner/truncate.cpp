#include "runtime/json/json.hpp"
#include "runtime/runner/defaults.hpp"
#include "runtime/runner/read_answer.hpp"

#include <string>

namespace troupe::script {

namespace {

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// Code points of valid UTF-8.
std::size_t characters(std::string_view text) {
  std::size_t n = 0;
  for (char c : text)
    n += continues(c) ? 0 : 1;
  return n;
}

} // namespace

std::string_view first_characters(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if (!continues(text[at]) && count-- == 0)
      break;
  return text.substr(0, at);
}

std::string friendly_message(std::string_view function, std::string_view name,
                             std::string_view message) {
  // A snippet or a command has no name.
  std::string text = "Error executing code";
  if (!function.empty())
    text = "Error executing function " + std::string{function};
  text += ": ";
  text += name;
  text += ": ";
  text += message;
  text = json::repair_utf8(text);
  return std::string{first_characters(text, defaults::max_friendly_characters)};
}

std::size_t value_characters(std::string_view value_json, std::size_t enough) {
  if (value_json.size() <= enough)
    return value_json.size();
  if (!value_json.starts_with('"'))
    return characters(value_json);
  auto parsed
    = json::parse(value_json, {.depth = 1, .bytes = value_json.size()});
  return parsed && parsed->is_string()
    ? characters({parsed->get_string().data(), parsed->get_string().size()})
    : 0;
}

std::string truncate_value(std::string_view value_json, std::size_t limit,
                           std::size_t length_before) {
  // Fewer bytes than the limit cannot be more characters.
  if (limit == 0 || (value_json.size() <= limit && length_before == 0))
    return {};
  std::string text{value_json};
  if (value_json.starts_with('"')) {
    auto parsed
      = json::parse(value_json, {.depth = 1, .bytes = value_json.size()});
    if (parsed.has_error() || !parsed->is_string())
      return {};
    text = parsed->get_string();
  }
  auto length = std::max(characters(text), length_before);
  if (length <= limit)
    return {};
  std::string cut{first_characters(text, limit)};
  cut += "... [NOTE: function output was truncated since it exceeded the "
         "character limit (";
  cut += std::to_string(length) + " > " + std::to_string(limit) + ")]";
  std::string out;
  json::append_string(out, cut);
  return out;
}

} // namespace troupe::script
