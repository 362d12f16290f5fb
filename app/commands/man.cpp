#include "app/cli/commands.hpp"

#include <iostream>

namespace troupe {

namespace {

/// Roff reads a backslash and a leading dot or quote as orders.
std::string plain(std::string_view text) {
  std::string out;
  for (auto c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string heading(const CLI::App& command, const std::string& parents) {
  auto text = parents + command.get_name();
  for (auto option : command.get_options(
         [](const CLI::Option* o) { return o->get_positional(); }))
    text += " " + option->get_name(true);
  return text;
}

void print_options(std::ostream& out, const CLI::App& command) {
  for (auto option : command.get_options()) {
    if (option->get_group().empty()) // hidden: every setting is a flag, too
      continue;
    out << ".TP\n.B " << plain(option->get_name(false, true)) << "\n"
        << plain(option->get_description()) << "\n";
  }
}

void print_command(std::ostream& out, const CLI::App& command,
                   const std::string& parents) {
  auto inner = command.get_subcommands(
    [](const CLI::App* c) { return !c->get_group().empty(); });
  out << ".SS \"" << plain(heading(command, parents)) << "\"\n"
      << plain(command.get_description()) << "\n";
  if (inner.empty())
    print_options(out, command);
  for (auto next : inner)
    print_command(out, *next, parents + command.get_name() + " ");
}

int print_page() {
  CLI::App app{"", "troupe"};
  invocation call;
  build_command_line(app, call);
  auto& out = std::cout;
  out << ".TH TROUPE 1 \"\" \"troupe " TROUPE_VERSION "\" \"User Commands\"\n"
      << ".SH NAME\ntroupe \\- run the tools of AI agents, isolated\n"
      << ".SH SYNOPSIS\n.B troupe\n.I COMMAND\n[options]\n"
      << ".SH DESCRIPTION\n"
      << "Commands that need an engine use the one given by\n.B "
         "\\-\\-server\nor TROUPE_SERVER, otherwise the one that listens at "
         "the configured address.\nIf there is none, they open an embedded "
         "engine on the same data.\n"
      << ".SH COMMANDS\n";
  for (auto command : app.get_subcommands(
         [](const CLI::App* c) { return !c->get_group().empty(); }))
    print_command(out, *command, "");
  out << ".SH EXIT STATUS\n0 success, 1 the tool failed, 2 usage error, 70 "
         "internal error, 124 timeout.\n"
      << ".SH ENVIRONMENT\n"
         "TROUPE_SERVER, TROUPE_API_KEY, TROUPE_CONFIG_FILE, and TROUPE_GROUP_"
         "KEY for every setting.\n";
  return exit_ok;
}

} // namespace

void add_man_command(CLI::App& app, invocation& call) {
  auto cmd = app.add_subcommand("man", "Print the manual page, for man -l -");
  call.on(cmd, print_page);
}

} // namespace troupe
