#include "app/run_options.hpp"

#include "app/options.hpp"
#include "app/said_text.hpp"
#include "runtime/json/json.hpp"
#include "runtime/model/host_pattern.hpp"
#include "runtime/settings/value.hpp"

#include <filesystem>

namespace troupe {

namespace {

result<language> language_of(const run_options& said) {
  if (!said.language.empty()) {
    auto lang = parse_language(said.language);
    if (!lang)
      return bad_field("--language", "'" + said.language + "' is none",
                       "python, typescript, javascript or shell");
    return lang;
  }
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
                   "give --language");
}

result<std::string> arguments_of(const run_options& said) {
  if (said.args.empty())
    return std::string{"{}"};
  if (said.args == "-" && said.file == "-")
    return bad_field("--args", "standard input holds the source already",
                     "give the arguments as text or as @file");
  auto object = said_object(said.args, "--args");
  if (!object)
    return object.error();
  return json::to_text(*object);
}

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
    return bad_field("--network", "'" + text + "' is no policy",
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

result<void> set_limits(const run_options& said, limit_overrides& l) {
  if (!said.timeout.empty()) {
    auto time = parse_duration(said.timeout);
    if (!time)
      return bad_field("--timeout", time.error().text,
                       "such as 5s, 500ms or 2m");
    if (time->count() <= 0)
      return bad_field("--timeout", "must be more than zero", "5s, 500ms, 2m");
    l.wall = *time;
  }
  if (!said.memory.empty()) {
    auto bytes = parse_size(said.memory);
    if (!bytes)
      return bad_field("--memory", bytes.error().text,
                       "such as 256MiB or 1GiB");
    constexpr std::uint64_t least = 8u << 20; // an interpreter's start
    if (*bytes < least)
      return bad_field("--memory", "less than 8 MiB runs nothing", "256MiB");
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

} // namespace

result<prepared_run> make_run(const run_options& said, const settings& s) {
  prepared_run run;
  run.id = run_id::make();
  run.organization = default_organization();
  run.kind = run_kind::source;
  auto lang = language_of(said);
  if (!lang)
    return lang.error();
  run.lang = *lang;
  auto source = read_said_file(said.file, "FILE");
  if (!source)
    return source.error();
  run.source = std::move(*source);
  run.function = said.function;
  run.name = said.file == "-"
    ? "stdin"
    : std::filesystem::path{said.file}.filename().string();
  auto args = arguments_of(said);
  if (!args)
    return args.error();
  run.args_json = std::move(*args);
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
