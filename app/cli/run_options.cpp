#include "app/cli/run_options.hpp"

#include "app/assembly/options_from_settings.hpp"
#include "app/cli/argument_values.hpp"
#include "runtime/json/big_integers.hpp"
#include "runtime/model/host_pattern.hpp"
#include "runtime/settings/value.hpp"

#include <unistd.h>

#include <array>
#include <filesystem>
#include <sstream>

namespace troupe {

namespace {

result<language> language_of(const run_options& said) {
  if (!said.language.empty()) {
    auto lang = parse_language(said.language);
    if (!lang)
      return bad_field("--language",
                       "'" + said.language + "' is not a language",
                       "python, typescript, javascript or shell");
    return lang;
  }
  if (!said.code.empty() || said.file == "-")
    return language::python; // as `python -c` and `python -`
  auto end = std::filesystem::path{said.file}.extension().string();
  if (end == ".py")
    return language::python;
  if (end == ".ts" || end == ".mts")
    return language::typescript;
  if (end == ".js" || end == ".cjs" || end == ".mjs")
    return language::javascript;
  if (end == ".sh")
    return language::shell;
  return bad_field("FILE", "cannot tell the language of '" + said.file + "'",
                   "Python, TypeScript, JavaScript and shell can be run: name "
                   "one with --language");
}

/// The text to run, and what it is called in messages.
result<void> set_source(const run_options& said, prepared_run& run) {
  if (!said.code.empty()) {
    run.source = said.code;
    run.name = "code";
    return {};
  }
  auto source = read_said_file(said.file, "FILE");
  if (!source)
    return source.error();
  run.source = std::move(*source);
  run.name = said.file == "-"
    ? "stdin"
    : std::filesystem::path{said.file}.stem().string();
  return {};
}

result<std::string> arguments_of(const run_options& said) {
  if (said.args.empty())
    return std::string{"{}"};
  if (said.args == "-" && said.file == "-")
    return bad_field("--args", "stdin is already used for the source",
                     "pass the arguments as text or @file");
  auto object = said_arguments(said.args);
  if (!object)
    return object.error();
  return json::exact_text(*object);
}

// -- the shell of a script ----------------------------------------------------

constexpr std::array<std::string_view, 4> shells{"bash", "dash", "sh", "zsh"};
constexpr std::array<std::string_view, 2> shell_folders{"/bin/", "/usr/bin/"};

std::vector<std::string> words_of_first_line(std::string_view source) {
  if (!source.starts_with("#!"))
    return {};
  source = source.substr(2, source.find('\n') - 2); // npos: all of it
  std::istringstream line{std::string{source}};     // blanks: '\r' is one
  std::vector<std::string> words;
  for (std::string word; line >> word;)
    words.push_back(std::move(word));
  return words;
}

bool is_env(std::string_view path) {
  return path == "/usr/bin/env" || path == "/bin/env";
}

std::string found_shell(std::string_view word, bool anywhere) {
  for (auto folder : shell_folders)
    for (auto name : shells) {
      auto path = std::string{folder} + std::string{name};
      if ((word == path || (anywhere && word == name))
          && ::access(path.c_str(), X_OK) == 0)
        return path;
    }
  return {};
}

/// The shell that a script's first line asks for, with its options: bash, dash,
/// sh or zsh of /bin or /usr/bin, where this host has it. Nothing for a script
/// that asks for none, or for something else.
std::vector<std::string> shell_of(std::string_view source) {
  auto words = words_of_first_line(source);
  const bool by_name = !words.empty() && is_env(words.front());
  if (by_name)
    words.erase(words.begin(),
                words.begin() + (words.size() > 1 && words[1] == "-S" ? 2 : 1));
  if (words.empty())
    return {};
  words.front() = found_shell(words.front(), by_name);
  return words.front().empty() ? std::vector<std::string>{} : words;
}

/// A script of a shell of its own is a command for that one.
void set_shell(prepared_run& run) {
  run.argv = shell_of(run.source);
  if (run.argv.empty())
    return;
  run.argv.insert(run.argv.end(), {"-c", run.source});
  run.kind = run_kind::command;
}

// -- bounds -------------------------------------------------------------------

result<network_policy> network_of(const std::string& text) {
  network_policy policy;
  if (text.empty() || text == "public")
    return policy;
  if (text == "off") {
    policy.mode = network_mode::off;
    return policy;
  }
  constexpr std::string_view list = "allow=";
  if (!text.starts_with(list) || text.size() == list.size())
    return bad_field("--network", "'" + text + "' is not a network policy",
                     "off, public or allow=host,host:port");
  policy.mode = network_mode::listed;
  std::string_view rest{text};
  rest.remove_prefix(list.size());
  while (!rest.empty()) {
    auto host = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), host.size() + 1));
    if (host.empty())
      continue;
    if (auto fine = parse_host_pattern(host); !fine)
      return fine.error().within("--network");
    policy.allow.emplace_back(host);
  }
  return policy;
}

constexpr std::uint64_t least_memory = 16u << 20; // as for limits.memory

result<void> set_limits(const run_options& said, limit_overrides& l) {
  if (!said.timeout.empty()) {
    auto time = said_timeout(said.timeout);
    if (!time)
      return time.error();
    l.wall = *time;
  }
  if (!said.memory.empty()) {
    auto bytes = parse_size(said.memory);
    if (!bytes)
      return bad_field("--memory", bytes.error().text,
                       "such as 256MiB or 1GiB");
    if (*bytes < least_memory)
      return bad_field("--memory", "must be at least 16MiB", "such as 256MiB");
    l.memory_bytes = *bytes;
  }
  return {};
}

result<void> set_requirements(const run_options& said, prepared_run& run) {
  for (const auto& text : said.pip) {
    auto wanted = parse_pip(text);
    if (!wanted)
      return wanted.error().within("--pip");
    run.pip_requirements.push_back(std::move(*wanted));
  }
  for (const auto& text : said.npm) {
    auto wanted = parse_npm(text);
    if (!wanted)
      return wanted.error().within("--npm");
    run.npm_requirements.push_back(std::move(*wanted));
  }
  return {};
}

result<void> set_files(const run_options& said, const file_bounds& most,
                       prepared_run& run) {
  run.file_bounds = most;
  auto files = said_files(said.files.in);
  if (!files)
    return files.error();
  run.files = std::move(*files);
  run.outputs = outputs_of(said.files.out, said.files.directory);
  for (const auto& pattern : run.outputs)
    if (auto fine = check_output_pattern(pattern, "--outputs"); !fine)
      return fine;
  return {};
}

} // namespace

result<prepared_run> make_run(const run_options& said, const settings& s) {
  prepared_run run;
  run.id = run_id::make();
  run.organization = default_organization();
  run.kind = run_kind::source;
  if (said.file.empty() == said.code.empty())
    return bad_field("FILE", said.code.empty() ? "is missing" : "excludes -c",
                     "name a file, - for standard input, or -c CODE");
  auto lang = language_of(said);
  if (!lang)
    return lang.error();
  run.lang = *lang;
  if (auto read = set_source(said, run); !read)
    return read.error();
  run.function = said.function;
  run.may_be_script = said.function.empty() && said.args.empty();
  auto args = arguments_of(said);
  if (!args)
    return args.error();
  run.args_json = std::move(*args);
  if (run.lang == language::shell) {
    if (run.args_json != "{}")
      return bad_field("--args", "shell scripts take no arguments",
                       "pass them as variables with --env");
    set_shell(run);
  }
  // Nothing else reads the value: what does not fit into a result does not fit.
  run.return_char_limit = 0;
  if (auto fine = set_files(said, s.files.bounds, run); !fine)
    return fine.error();
  auto variables = said_variables(said.env, "--env");
  if (!variables)
    return variables.error();
  run.env = std::move(*variables);
  auto network = network_of(said.network);
  if (!network)
    return network.error();
  // "public" is what stands there when nobody chose: who may leave out the
  // isolation may name a host of his own as well.
  const auto widest = network_from(s);
  run.network = widest.mode == network_mode::open ? std::move(*network)
                                                  : strictest(widest, *network);
  limit_overrides bounds;
  if (auto fine = set_limits(said, bounds); !fine)
    return fine.error();
  auto standard = s.limits.standard;
  if (bounds.wall) // on many cores wall ends first, or not
    standard.cpu = std::max(standard.cpu, *bounds.wall);
  run.limits = apply(standard, bounds, s.limits.ceiling);
  if (auto fine = set_requirements(said, run); !fine)
    return fine.error();
  run.isolation = isolation_from(s);
  if (said.without_isolation)
    run.isolation = isolation_level::off;
  else if (said.best_effort)
    run.isolation = isolation_level::best_effort;
  return run;
}

} // namespace troupe
