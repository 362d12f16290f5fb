#include "app/cli/commands.hpp"
#include "app/cli/engine_locator.hpp"
#include "app/cli/examples.hpp"
#include "app/cli/help_format.hpp"

#include <iostream>
#include <string>
#include <string_view>

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

std::string heading(const CLI::App& command) {
  auto text = command_path(command);
  for (auto option : command.get_options(
         [](const CLI::Option* o) { return o->get_positional(); }))
    text += " " + option->get_name(true);
  return text;
}

void print_option(std::ostream& out, const CLI::Option& option) {
  auto word = option.get_positional() ? std::string{} : value_word(option);
  out << ".TP\n.B " << plain(option.get_name(false, true))
      << (word.empty() ? "" : "\\fR \\fI" + plain(word)) << "\n"
      << plain(option.get_description()) << "\n";
}

void print_examples(std::ostream& out, std::string_view lines) {
  if (!lines.empty())
    out << ".PP\n.nf\n.RS\n" << plain(lines) << "\n.RE\n.fi\n";
}

/// Without what many commands share, and every setting as a flag.
void print_command(std::ostream& out, const CLI::App& command) {
  auto inner = command.get_subcommands(
    [](const CLI::App* c) { return !c->get_group().empty(); });
  out << ".SS \"" << plain(heading(command)) << "\"\n"
      << plain(command.get_description()) << "\n";
  if (inner.empty())
    for (auto option : command.get_options())
      if (!option->get_group().empty() && !is_shared(*option)
          && option != command.get_help_ptr())
        print_option(out, *option);
  print_examples(out, examples_of(command_path(command)));
  for (auto next : inner)
    print_command(out, *next);
}

void print_shared_options(std::ostream& out) {
  CLI::App shared;
  const auto kept = add_session_options(shared);
  out << ".SH SHARED OPTIONS\nMost commands have these, to find an engine and "
         "for its settings.\nThey may stand before the command, too.\n";
  for (auto option : shared.get_options())
    if (is_shared(*option))
      print_option(out, *option);
  out << ".TP\n.B \\-\\-group.key\\fR=\\fIvalue\nAny setting; "
         "\\(lqtroupe config keys\\(rq explains them.\n";
}

constexpr auto last_sections = R"(.SH ENVIRONMENT
TROUPE_SERVER, TROUPE_API_KEY, TROUPE_CONFIG_FILE, and TROUPE_GROUP_KEY for every setting.
.SH FILES
.TP
.I ./config.ini, /etc/troupe/config.ini
Settings, where no other file is named.
.TP
.I ./data
Everything that is kept, unless engine.data\-dir names another directory. In it: store, packages in environments, and
.TP
.I master.key
The key that everything secret is encrypted with; in no backup, so keep a copy elsewhere.
.TP
.I operator.sock
While an engine serves: root and its own user are operators there, without a key.
.TP
.I engine.lock
The process that uses the directory, and its address.
.SH SIGNALS
.TP
.B SIGTERM, SIGINT
End \(lqtroupe serve\(rq: new runs are refused, those in progress have until engine.drain\-timeout.
.TP
.B SIGHUP
Reload log.level and the TLS files.
.SH SEE ALSO
The interface over HTTP is described at /docs of a running engine, and by \(lqtroupe openapi\(rq.
)";

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
         "\\-\\-server\nor TROUPE_SERVER, otherwise the one that uses the "
         "data directory, otherwise the one at the configured address.\nIf "
         "none is running there, they open an embedded engine on the same "
         "data.\n"
      << ".SH COMMANDS\n";
  for (auto command : app.get_subcommands(
         [](const CLI::App* c) { return !c->get_group().empty(); }))
    print_command(out, *command);
  print_shared_options(out);
  out << ".SH EXAMPLES\n.nf\n" << plain(first_examples) << "\n.fi\n";
  out << ".SH EXIT STATUS\n" << plain(exit_codes_help) << "\n" << last_sections;
  return exit_ok;
}

} // namespace

void add_man_command(CLI::App& app, invocation& call) {
  auto cmd = app.add_subcommand("man", "Print the manual page, for man -l -");
  call.on(cmd, print_page);
}

} // namespace troupe
