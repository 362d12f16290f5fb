#include "app/cli/details.hpp"

#include "app/cli/table.hpp"
#include "app/logging/log_line.hpp"

#include <boost/algorithm/string/replace.hpp>

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace troupe {

namespace {

constexpr std::size_t widest_name = 26;
constexpr std::string_view indent = "  ";

using row = std::pair<std::string, std::string>;

bool is_empty(const json::value& v) {
  return v.is_null() || (v.is_bool() && !v.get_bool())
    || (v.is_string() && v.get_string().empty())
    || (v.is_array() && v.get_array().empty())
    || (v.is_object() && v.get_object().empty());
}

std::string plain_text(const json::value& v) {
  return v.is_string() ? std::string{v.get_string()} : json::to_text(v);
}

/// "wall_ms 12, cpu_ms 3": an object on a line.
std::string members_of(const json::object& o) {
  std::string all;
  for (const auto& member : o)
    if (!is_empty(member.value()))
      all += (all.empty() ? "" : ", ") + std::string{member.key()} + " "
        + plain_text(member.value());
  return all;
}

bool is_enforced(const json::value& layer) {
  return cell(layer, "state") == "enforced";
}

/// "standard (of 17 layers not enforced: landlock)".
std::string isolation_of(const json::object& o) {
  const json::value whole(o);
  auto text = cell(whole, "level");
  auto layers = o.if_contains("layers");
  if (!layers || !layers->is_array())
    return members_of(o);
  std::string lesser;
  for (const auto& layer : layers->get_array())
    if (!is_enforced(layer))
      lesser += (lesser.empty() ? "" : ", ") + cell(layer, "name") + " "
        + cell(layer, "state");
  return text + (lesser.empty() ? " (every layer enforced)" : "; " + lesser);
}

/// A record and its result have some members in common.
void add_once(std::vector<row>& rows, row one) {
  if (std::ranges::find(rows, one) == rows.end())
    rows.push_back(std::move(one));
}

void add(std::vector<row>& rows, std::string name, const json::value& v);

void add_members(std::vector<row>& rows, const json::object& o,
                 const std::string& prefix) {
  for (const auto& member : o)
    add(rows, prefix + std::string{member.key()}, member.value());
}

void add_list(std::vector<row>& rows, std::string name,
              const json::array& all) {
  const bool plain = std::ranges::none_of(
    all, [](const json::value& v) { return v.is_object() || v.is_array(); });
  if (plain) {
    std::string line;
    for (const auto& each : all)
      line += (line.empty() ? "" : ", ") + plain_text(each);
    rows.emplace_back(std::move(name), std::move(line));
    return;
  }
  for (const auto& each : all) {
    rows.emplace_back(name,
                      each.is_object() ? members_of(each.get_object())
                                       : json::to_text(each));
    name.clear();
  }
}

void add(std::vector<row>& rows, std::string name, const json::value& v) {
  if (is_empty(v))
    return;
  if (name.ends_with("isolation") && v.is_object())
    rows.emplace_back(std::move(name), isolation_of(v.get_object()));
  else if (name == "result" && v.is_object()) // what a run came to
    add_members(rows, v.get_object(), {});
  else if (name.ends_with("value") || name.ends_with("schema"))
    rows.emplace_back(std::move(name), plain_text(v));
  else if (v.is_object())
    rows.emplace_back(std::move(name), members_of(v.get_object()));
  else if (v.is_array())
    add_list(rows, std::move(name), v.get_array());
  else
    add_once(rows, {std::move(name), plain_text(v)});
}

void print_block(std::ostream& out, const std::string& text) {
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    boost::algorithm::replace_all(line, "\t", "    "); // of a source
    out << indent << strip_control_characters(line) << "\n";
  }
}

} // namespace

void print_details(std::ostream& out, const json::value& thing) {
  std::vector<row> rows;
  if (auto object = thing.if_object())
    add_members(rows, *object, {});
  std::size_t width = 0;
  for (const auto& [name, text] : rows)
    width = std::max(width, std::min(name.size(), widest_name));
  for (const auto& [name, text] : rows) {
    out << name << std::string(width - std::min(width, name.size()), ' ');
    if (text.find('\n') == std::string::npos) {
      out << indent << strip_control_characters(text) << "\n";
    } else {
      out << "\n";
      print_block(out, text);
    }
  }
}

void show_details(const json::value& thing, bool as_json) {
  if (as_json || ::isatty(STDOUT_FILENO) != 1)
    std::cout << json::to_text(thing) << "\n";
  else
    print_details(std::cout, thing);
}

} // namespace troupe
