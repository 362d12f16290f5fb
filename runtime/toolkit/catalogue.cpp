#include "runtime/toolkit/catalogue.hpp"

#include "runtime/model/schema/bind_arguments.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace troupe::toolkit {

namespace {

using name_pair = std::pair<std::string_view, std::string_view>;

/// What others call our tools.
constexpr name_pair other_tools[] = {
  {"grep", "file_search"},       {"glob", "file_glob"},
  {"file_replace", "file_edit"}, {"read_file", "file_read"},
  {"write_file", "file_write"},  {"edit_file", "file_edit"},
  {"ls", "file_list"},           {"execute", "shell_exec"},
  {"bash", "shell_exec"},
};

/// And our arguments; the first that a tool's schema has is meant.
constexpr name_pair other_arguments[] = {
  {"path", "file"},       {"file_path", "file"}, {"filename", "file"},
  {"dir", "path"},        {"directory", "path"}, {"cmd", "command"},
  {"exec_dir", "cwd"},    {"workdir", "cwd"},    {"old_string", "old"},
  {"old_str", "old"},     {"new_string", "new"}, {"new_str", "new"},
  {"replace_all", "all"},
};

constexpr std::string_view session_property
  = R"({"type":"string","description":"Only to work in another sandbox: an id that sandbox_create returned."})";

json::object schema_of(const tool_entry& entry) {
  // Texts of ours: one that is no JSON ends the first test.
  auto properties = json::parse_object(entry.properties).value();
  properties["session_id"] = json::parse(session_property).value();
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", json::parse(entry.required).value()},
          {"additionalProperties", false}};
}

std::vector<listed_tool> make_catalogue() {
  std::vector<listed_tool> all;
  for (auto make : {reading_tools, writing_tools, searching_tools,
                    process_tools, git_tools, code_tools, sandbox_tools})
    for (auto& entry : make())
      all.push_back({entry, schema_of(entry)});
  return all;
}

bool has_property(const listed_tool& of, std::string_view name) {
  return of.schema.at("properties").get_object().contains(name);
}

void rename_arguments(const listed_tool& of, json::object& said) {
  for (const auto& [other, ours] : other_arguments) {
    if (!said.contains(other) || has_property(of, other) || said.contains(ours)
        || !has_property(of, ours))
      continue;
    auto value = std::move(said.at(other));
    said.erase(other);
    said[ours] = std::move(value);
  }
  // Seconds, as most other tools have them.
  const auto* seconds = said.if_contains("timeout");
  if (!seconds || !has_property(of, "timeout_ms") || said.contains("timeout_ms")
      || !seconds->is_number())
    return;
  const auto milliseconds = seconds->to_number<double>() * 1'000;
  said.erase("timeout");
  said["timeout_ms"]
    = static_cast<std::int64_t>(std::clamp(milliseconds, 0.0, 1e12));
}

} // namespace

const std::vector<listed_tool>& catalogue() {
  static const auto all = make_catalogue();
  return all;
}

const listed_tool* find_tool(std::string_view name) {
  for (const auto& [other, ours] : other_tools)
    if (name == other)
      name = ours;
  const auto& all = catalogue();
  const auto found
    = std::find_if(all.begin(), all.end(), [name](const listed_tool& each) {
        return each.entry.name == name;
      });
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string_view> tool_names() {
  std::vector<std::string_view> names;
  for (const auto& each : catalogue())
    names.push_back(each.entry.name);
  return names;
}

result<json::object> read_arguments(const listed_tool& of, json::object said) {
  rename_arguments(of, said);
  if (of.entry.name == "file_read" && said.contains("offset"))
    return bad_field("/offset", "is not known here",
                     "use start_line (1 is the first line)");
  bind_options options;
  options.pointer = "";
  return bind_arguments(std::move(said), of.schema, options);
}

std::string_view instructions() {
  return "Tools that work in one isolated Linux sandbox of your own. Relative "
         "paths start in its workspace. Files stay between calls; shell "
         "commands each start in the workspace with a fresh shell; python_exec "
         "and node_exec keep their variables. A command that runs longer than "
         "45 seconds is handed back as a process: read it with process_output. "
         "Long output is cut in the middle.";
}

} // namespace troupe::toolkit
