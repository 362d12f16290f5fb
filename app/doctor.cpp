#include "app/commands.hpp"
#include "app/examination.hpp"
#include "app/local_engine.hpp"
#include "app/options.hpp"
#include "app/settings_options.hpp"
#include "runtime/json/json.hpp"

#include <iostream>
#include <memory>

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

std::string verdict(const std::string& trouble,
                    const isolation::probe_report& report) {
  if (!trouble.empty())
    return "This host cannot run tools: " + trouble;
  const auto less = lesser_layers(report);
  if (!less.empty())
    return "This host runs tools, with less than all of: " + less + ".";
  return "This host runs tools in full isolation.";
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
    return complain(configured.error());
  const auto& s = configured->values;
  auto engine = local_engine::open(local_options_from(s));
  if (!engine)
    return complain(engine.error().text, exit_ours);
  auto ready = (*engine)->wait_until_probed();
  auto& local = (*engine)->backend();
  const auto findings = examine(s, local);
  const auto trouble = ready ? std::string{} : ready.error().text;
  const auto all_in_all = verdict(trouble, local.probe());
  if (as_json)
    print_for_programs(findings, trouble, all_in_all);
  else
    print_for_people(findings, all_in_all);
  return ready ? exit_ok : exit_tool_failed;
}

} // namespace

void add_doctor_command(CLI::App& app, invocation& call) {
  auto as_json = std::make_shared<bool>(false);
  auto* cmd = app.add_subcommand(
    "doctor", "Say what this host can isolate, and what to do about the rest");
  cmd->add_flag("--json", *as_json, "For programs");
  auto how = add_settings_options(*cmd);
  call.on(cmd, [as_json, how] { return look_around(*as_json, *how); });
}

} // namespace troupe
