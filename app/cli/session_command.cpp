#include "app/cli/session_command.hpp"

#include "app/cli/table.hpp"
#include "runtime/json/json.hpp"

#include <iostream>

namespace troupe {

int print_deleted(const std::string& what, bool as_json) {
  if (as_json)
    std::cout << json::to_text(json::object{{"deleted", what}}) << "\n";
  return exit_ok;
}

result<int> print_list(api_client& engine, std::string target, bool as_json,
                       const std::vector<listed_column>& columns,
                       std::string query) {
  auto all = engine.list(std::move(target), std::move(query));
  if (!all)
    return all.error();
  if (as_json) {
    std::cout << json::to_text(*all) << "\n";
    return int{exit_ok};
  }
  auto row_of = [&](auto text) {
    std::vector<std::string> row;
    for (const auto& one : columns)
      row.emplace_back(text(one));
    return row;
  };
  table rows{row_of([](const listed_column& c) { return c.title; })};
  for (const auto& item : *all)
    rows.add(
      row_of([&](const listed_column& c) { return cell(item, c.member); }));
  rows.show();
  return int{exit_ok};
}

} // namespace troupe
