#include "app/cli/argument_values.hpp"

#include "runtime/json/big_integers.hpp"
#include "runtime/model/variable.hpp"
#include "runtime/settings/value.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace troupe {

namespace {

/// Sources and arguments beyond this are a mistake, or belong into a file that
/// the tool reads.
constexpr std::size_t max_text = 16u << 20;

result<std::string> read_all(std::istream& in, std::string_view name) {
  std::string text;
  char piece[16 * 1024];
  while (in.read(piece, sizeof piece) || in.gcount() > 0) {
    text.append(piece, static_cast<std::size_t>(in.gcount()));
    if (text.size() > max_text)
      return bad_field(std::string{name}, "more than 16 MiB",
                       "let the tool read a file");
  }
  return text;
}

} // namespace

result<std::string> read_said_file(const std::string& path,
                                   std::string_view name) {
  if (path == "-")
    return read_all(std::cin, name);
  std::error_code code;
  if (std::filesystem::is_directory(path, code))
    return bad_field(std::string{name}, path + " is a directory",
                     "name a file");
  std::ifstream file{path, std::ios::binary};
  if (!file)
    return bad_field(std::string{name}, "cannot read " + path,
                     "check the path");
  return read_all(file, name);
}

namespace {

result<json::object> said_json(const std::string& said, std::string_view name,
                               json::large_places places) {
  auto text = said;
  if (said == "-" || said.starts_with('@')) {
    auto read = read_said_file(said == "-" ? said : said.substr(1), name);
    if (!read)
      return read.error();
    text = std::move(*read);
  }
  auto object = json::parse_large_object(text, places);
  if (!object)
    return bad_field(std::string{name},
                     "is not a JSON object (" + object.error().text + ")",
                     "such as '{\"a\": 2}'");
  return object;
}

} // namespace

result<json::object> said_object(const std::string& said,
                                 std::string_view name) {
  return said_json(said, name, {});
}

result<json::object> said_arguments(const std::string& said) {
  return said_json(said, "--args", json::anywhere);
}

json::array to_array(const std::vector<std::string>& texts) {
  return json::array(texts.begin(), texts.end());
}

result<environment> said_variables(const std::vector<std::string>& words,
                                   std::string_view option) {
  environment all;
  for (const auto& word : words) {
    auto equals = word.find('=');
    auto name = word.substr(0, equals);
    if (auto fine = check_variable_name(name, option); !fine)
      return fine.error();
    std::string value;
    if (equals != std::string::npos)
      value = word.substr(equals + 1);
    else if (const char* own = std::getenv(name.c_str()))
      value = own;
    else
      return bad_field(std::string{option},
                       name + " is not set in the environment",
                       "give " + name + "=...");
    if (auto fine = check_variable_value(value, option); !fine)
      return fine.error();
    all[name] = secret{std::move(value)};
  }
  return all;
}

result<std::chrono::milliseconds> said_timeout(const std::string& text) {
  auto time = parse_duration(text);
  if (!time)
    return bad_field("--timeout", "'" + text + "' " + time.error().text,
                     "such as 5s, 500ms or 2m");
  if (time->count() <= 0)
    return bad_field("--timeout", "must be more than zero", "5s, 500ms, 2m");
  return *time;
}

} // namespace troupe
