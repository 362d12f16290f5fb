// Files of living sandboxes: cp, ls, cat.
#include "app/cli/argument_values.hpp"
#include "app/cli/table.hpp"
#include "app/commands/sandbox_words.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>

namespace troupe {

place_of_file parse_place_of_file(const std::string& word) {
  // An id has no slash: what has one before the colon is a file of ours.
  const auto colon = word.find(':');
  const auto slash = word.find('/');
  if (colon == word.npos || colon == 0 || slash < colon)
    return {{}, word};
  return {word.substr(0, colon), word.substr(colon + 1)};
}

namespace {

using verb = api_client::verb;

struct copy_words {
  std::string from;
  std::string to;
  bool as_json = false;
};

struct file_words {
  std::string where; // ID:/path
  bool as_json = false;
};

std::string file_target(const place_of_file& at, const char* call) {
  return sandbox_target(at.sandbox,
                        std::string{"/files"} + call
                          + "?path=" + net::percent_encode(at.path));
}

result<place_of_file> sandbox_file_of(const std::string& word,
                                      const char* name) {
  auto at = parse_place_of_file(word);
  if (at.sandbox.empty())
    return bad_field(name, "names no sandbox", "write ID:/path");
  return at;
}

result<int> put_file(const std::string& from, place_of_file to,
                     api_client& engine) {
  auto bytes = read_said_file(from, "FROM");
  if (!bytes)
    return bytes.error();
  if (to.path.ends_with('/'))
    to.path += std::filesystem::path{from}.filename().string();
  auto put
    = engine.send(verb::put, file_target(to, "/content"), std::move(*bytes));
  if (!put)
    return put.error();
  return int{exit_ok};
}

result<int> get_file(const place_of_file& from, const std::string& to,
                     api_client& engine) {
  auto bytes = engine.text(file_target(from, "/content"));
  if (!bytes)
    return bytes.error();
  if (to == "-") {
    std::cout << *bytes << std::flush;
    return int{exit_ok};
  }
  std::filesystem::path place{to};
  if (std::filesystem::is_directory(place))
    place /= std::filesystem::path{from.path}.filename();
  std::ofstream file{place, std::ios::binary | std::ios::trunc};
  if (!file.write(bytes->data(), static_cast<std::streamsize>(bytes->size()))
      || !file.flush())
    return bad_field("TO", "'" + place.string() + "' cannot be written",
                     "name a file in a folder of yours");
  return int{exit_ok};
}

result<int> copy(const copy_words& said, api_client& engine) {
  auto from = parse_place_of_file(said.from);
  auto to = parse_place_of_file(said.to);
  if (from.sandbox.empty() == to.sandbox.empty())
    return bad_field("TO", "one of both is in a sandbox, and one is not",
                     "write ID:/path for the one that is");
  return from.sandbox.empty() ? put_file(from.path, std::move(to), engine)
                              : get_file(from, to.path, engine);
}

result<int> list_folder(const file_words& said, api_client& engine) {
  auto at = sandbox_file_of(said.where, "WHERE");
  if (!at)
    return at.error();
  if (at->path.empty())
    at->path = "/";
  auto found = engine.call(verb::get, file_target(*at, ""));
  if (!found)
    return found.error();
  const auto& items = found->as_object().at("items");
  if (said.as_json) {
    std::cout << json::to_text(items) << "\n";
    return int{exit_ok};
  }
  table rows{{"TYPE", "BYTES", "NAME"}};
  for (const auto& each : items.as_array())
    rows.add({cell(each, "type"), cell(each, "bytes"), cell(each, "name")});
  rows.show();
  return int{exit_ok};
}

result<int> print_file(const file_words& said, api_client& engine) {
  auto at = sandbox_file_of(said.where, "WHERE");
  if (!at)
    return at.error();
  return get_file(*at, "-", engine);
}

} // namespace

void add_sandbox_file_commands(CLI::App* group, invocation& call) {
  {
    auto [cmd, said] = add_session_command(
      group, call, "cp", "Copy a file into a sandbox or out of it", copy);
    cmd->add_option("FROM", said->from, "A file, or ID:/path")->required();
    cmd->add_option("TO", said->to, "The same, or - for standard output")
      ->required();
  }
  {
    auto [cmd, said] = add_session_command(
      group, call, "ls", "List a directory of a sandbox", list_folder);
    cmd->add_option("WHERE", said->where, "ID:/path")->required();
  }
  {
    auto [cmd, said] = add_session_command(
      group, call, "cat", "Print a file of a sandbox", print_file);
    cmd->add_option("WHERE", said->where, "ID:/path")->required();
  }
}

} // namespace troupe
