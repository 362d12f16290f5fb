#include "app/cli/help_format.hpp"

#include "app/cli/engine_locator.hpp"
#include "app/cli/examples.hpp"

#include <algorithm>
#include <array>
#include <sstream>

namespace troupe {

namespace {

constexpr auto serve = "serve"; // its settings are what it is about

bool shows(const CLI::App& command, const CLI::Option& option) {
  return !option.get_group().empty() && option.nonpositional()
    && (!is_shared(option) || command.get_name() == serve
        || command.get_parent() == nullptr);
}

std::string upper(std::string text) {
  for (auto& c : text)
    if (c >= 'a' && c <= 'z')
      c = static_cast<char>(c - 'a' + 'A');
  return text;
}

/// What CLI11 calls a value for which no command has a word.
std::string word_for(const std::string& type, const CLI::Option& option) {
  constexpr std::array numbers{"UINT", "INT", "FLOAT"};
  if (std::ranges::find(numbers, type) != numbers.end())
    return "N";
  const auto& names = option.get_lnames();
  if (type != "TEXT" || names.empty())
    return type;
  return upper(names.front().substr(names.front().rfind('-') + 1));
}

void print_options(std::ostream& out, const CLI::Formatter& how,
                   const CLI::App& command) {
  for (const auto& group : command.get_groups()) {
    auto options = command.get_options([&](const CLI::Option* one) {
      return one->get_group() == group && shows(command, *one);
    });
    if (!group.empty() && !options.empty())
      out << how.make_group(group, false, options);
  }
}

/// One line in place of the fifteen that each command would repeat.
void print_shared(std::ostream& out, const CLI::App& command) {
  std::string names;
  for (const auto* option : command.get_options())
    if (!option->get_group().empty() && is_shared(*option)
        && !shows(command, *option))
      names += (names.empty() ? "" : ", ") + option->get_name(false, true);
  if (!names.empty())
    out << "\nAnd, explained by `troupe help options`:\n  " << names
        << ", --group.key=value\n";
}

void print_examples(std::ostream& out, const CLI::App& command) {
  std::istringstream lines{std::string{examples_of(command_path(command))}};
  const char* title = "\nExamples:\n";
  for (std::string line; std::getline(lines, line); title = "")
    out << title << "  " << line << "\n";
}

} // namespace

std::string value_word(const CLI::Option& option) {
  if (option.get_type_size() == 0)
    return {};
  // Behind a colon is what it is checked for.
  const auto type = option.get_type_name();
  return word_for(type.substr(0, type.find(':')), option);
}

bool is_shared(const CLI::Option& option) {
  return option.get_group() == engine_group
    || option.get_group() == settings_group;
}

std::string command_path(const CLI::App& command) {
  std::string name;
  for (auto at = &command; at->get_parent(); at = at->get_parent())
    name = at->get_name() + (name.empty() ? "" : " ") + name;
  return name;
}

std::string help_format::make_help(const CLI::App* app, std::string name,
                                   CLI::AppFormatMode mode) const {
  if (mode == CLI::AppFormatMode::Sub)
    return make_expanded(app);
  std::ostringstream out;
  out << make_description(app) << make_usage(app, std::move(name))
      << make_positionals(app);
  print_options(out, *this, *app);
  print_shared(out, *app);
  out << make_subcommands(app, mode);
  print_examples(out, *app);
  out << make_footer(app);
  return out.str();
}

std::string help_format::make_option_opts(const CLI::Option* option) const {
  const auto word = value_word(*option);
  if (word.empty() || option->get_positional())
    return {};
  return " " + word + (option->get_required() ? " (required)" : "");
}

} // namespace troupe
