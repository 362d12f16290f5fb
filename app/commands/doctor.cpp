#include "app/assembly/options_from_settings.hpp"
#include "app/assembly/standalone_local.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/host_checks.hpp"
#include "app/cli/settings_options.hpp"
#include "runtime/json/json.hpp"

#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

namespace {

using state = finding::state;

std::string_view mark(state how) {
  switch (how) {
  case state::good:
    return "ok    ";
  case state::weak:
    return "weak  ";
  case state::missing:
    return "none  ";
  case state::unused:
    return "-     ";
  }
  return "-     ";
}

/// The layers that are less than enforced: what the host promises is what the
/// worst of them promises.
std::string lesser_layers(const isolation::probe_report& report) {
  std::string names;
  for (const auto& layer : report.layers)
    if (layer.state != layer_state::enforced)
      names += (names.empty() ? "" : ", ") + layer.name;
  return names;
}

/// The languages that have no interpreter here.
std::vector<std::string> languages_without(const std::vector<finding>& all) {
  std::vector<std::string> out;
  for (const auto& f : all)
    if (f.how == state::missing && f.name == "python")
      out.emplace_back("Python");
    else if (f.how == state::missing && f.name == "node")
      out.emplace_back("TypeScript and JavaScript");
  return out;
}

/// Why nothing runs here that is worth an engine, or "".
std::string trouble_of(const result<void>& ready,
                       const std::vector<std::string>& without) {
  if (!ready)
    return ready.error().text;
  if (without.size() < 2)
    return {};
  return "no interpreter for " + without[0] + " or " + without[1]
    + " (shell scripts would run)";
}

std::string verdict(const std::string& trouble,
                    const isolation::probe_report& report,
                    const std::vector<std::string>& without) {
  if (!trouble.empty())
    return "This host cannot run tools: " + trouble;
  const auto tools = without.empty() ? "" : ", but none in " + without.front();
  const auto less = lesser_layers(report);
  if (!less.empty())
    return "This host runs tools" + tools + ", with less than all of: " + less
      + ".";
  return "This host runs tools in full isolation" + tools + ".";
}

void print_for_people(const std::vector<finding>& findings,
                      std::string_view verdict) {
  for (const auto& f : findings) {
    std::cout << mark(f.how) << f.name;
    if (!f.reason.empty())
      std::cout << ": " << f.reason;
    if (f.core && f.how == state::missing)
      std::cout << " (runs are refused without it)";
    if (!f.advice.empty())
      std::cout << "\n      " << f.advice;
    std::cout << "\n";
  }
  std::cout << "\n" << verdict << "\n";
}

void print_for_programs(const std::vector<finding>& findings,
                        const std::string& trouble, std::string_view verdict) {
  json::array all;
  for (const auto& f : findings)
    all.push_back({{"name", f.name},
                   {"state", f.word},
                   {"core", f.core},
                   {"reason", f.reason},
                   {"advice", f.advice}});
  json::object report{{"ready", trouble.empty()},
                      {"reason", trouble},
                      {"verdict", verdict},
                      {"findings", std::move(all)}};
  std::cout << json::to_text(report) << "\n";
}

int look_around(bool as_json, settings_options& how) {
  auto configured = how.load();
  if (!configured)
    return print_error(configured.error());
  const auto& s = configured->values;
  auto engine = standalone_local::open(local_options_from(s));
  if (!engine)
    return print_error(engine.error().text, exit_ours);
  auto ready = (*engine)->wait_until_probed();
  auto& local = (*engine)->backend();
  const auto findings = check_host(s, local);
  const auto without = languages_without(findings);
  const auto trouble = trouble_of(ready, without);
  const auto all_in_all = verdict(trouble, local.probe(), without);
  if (as_json)
    print_for_programs(findings, trouble, all_in_all);
  else
    print_for_people(findings, all_in_all);
  return trouble.empty() ? exit_ok : exit_tool_failed;
}

} // namespace

void add_doctor_command(CLI::App& app, invocation& call) {
  auto as_json = std::make_shared<bool>(false);
  auto* cmd = app.add_subcommand(
    "doctor",
    "Check what isolation this host supports, and how to fix the rest");
  cmd->add_flag("--json", *as_json, "Print JSON");
  auto how = add_settings_options(*cmd);
  call.on(cmd, [as_json, how] { return look_around(*as_json, *how); });
}

} // namespace troupe
