#include "app/commands/letta_import.hpp"

#include "runtime/json/json.hpp"
#include "storage/sealing/letta_value.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

namespace {

// More than any organization may keep.
constexpr std::size_t max_variables = 10'000;

using stored = std::pair<std::string, std::string>; // name, value as it lies
using record = std::vector<std::string>;

constexpr std::string_view file_option = "FILE";

bool is_name(std::string_view heading) {
  return heading == "key" || heading == "name";
}
bool is_value(std::string_view heading) {
  return heading == "value" || heading == "value_enc";
}

/// RFC 4180: commas, quotes that are doubled inside of quotes, any line end.
result<std::vector<record>> read_csv(std::string_view text) {
  std::vector<record> out;
  record line{""};
  bool quoted = false;
  auto end_line = [&] {
    if (line.size() > 1 || !line[0].empty())
      out.push_back(std::exchange(line, {""}));
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto c = text[i];
    if (quoted && c == '"' && text.substr(i, 2) == "\"\"") {
      line.back() += text[++i];
    } else if (c == '"' && (quoted || line.back().empty())) {
      quoted = !quoted;
    } else if (quoted) {
      line.back() += c;
    } else if (c == ',') {
      line.emplace_back();
    } else if (c == '\n') {
      end_line();
    } else if (c != '\r') {
      line.back() += c;
    }
  }
  if (quoted)
    return bad_field(std::string{file_option}, "ends inside quotes",
                     "export the file again as CSV");
  end_line();
  return out;
}

result<std::vector<stored>> rows_of_csv(std::string_view text) {
  auto all = read_csv(text);
  if (!all)
    return all.error();
  std::size_t name = 0;
  std::size_t value = 1;
  auto first = all->begin();
  if (first != all->end()) {
    auto n = std::ranges::find_if(*first, is_name);
    auto v = std::ranges::find_if(*first, is_value);
    if (n != first->end() && v != first->end()) {
      name = static_cast<std::size_t>(n - first->begin());
      value = static_cast<std::size_t>(v - first->begin());
      ++first;
    }
  }
  std::vector<stored> out;
  for (; first != all->end(); ++first) {
    if (first->size() <= std::max(name, value))
      return bad_field(
        std::string{file_option},
        "line " + std::to_string(first - all->begin() + 1) + " has no value",
        "expected a name and its stored value, separated by a comma");
    out.emplace_back((*first)[name], (*first)[value]);
  }
  return out;
}

result<std::vector<stored>> rows_of_json(std::string_view text) {
  auto all = json::parse(text, {.depth = 8, .bytes = text.size()});
  if (!all || !all->is_array())
    return bad_field(std::string{file_option}, "is not a JSON array",
                     "[{\"key\": ..., \"value_enc\": ...}, ...]");
  std::vector<stored> out;
  for (const auto& each : all->get_array()) {
    stored row;
    if (auto* members = each.if_object())
      for (const auto& [heading, value] : *members)
        if (value.is_string() && (is_name(heading) || is_value(heading)))
          (is_name(heading) ? row.first : row.second)
            = std::string{value.get_string()};
    out.push_back(std::move(row));
  }
  return out;
}

} // namespace

result<environment> read_letta_export(std::string_view text,
                                      const secret& master) {
  auto begin = text.find_first_not_of(" \t\r\n");
  auto is_json = begin != text.npos && text[begin] == '[';
  auto rows = is_json ? rows_of_json(text) : rows_of_csv(text);
  if (!rows)
    return rows.error();
  if (rows->size() > max_variables)
    return bad_field(std::string{file_option},
                     "has more than " + std::to_string(max_variables)
                       + " variables",
                     "import them in several files");
  environment out;
  for (auto& [name, value] : *rows) {
    if (auto fine = check_variable_name(name); !fine)
      return fine.error();
    if (master.empty() && looks_sealed_by_letta(value))
      return bad_field(name,
                       "looks encrypted, but there is no key to decrypt it",
                       "set compat.letta-encryption-key (LETTA_ENCRYPTION_KEY) "
                       "to the server's key");
    auto opened = open_letta_value(value, master);
    if (!opened)
      return std::move(opened).error().within(name);
    out.insert_or_assign(std::move(name), std::move(*opened));
  }
  return out;
}

} // namespace troupe
