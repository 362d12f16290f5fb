#include "app/commands.hpp"
#include "app/local_engine.hpp"
#include "runtime/json/json.hpp"
#include "runtime/local/interpreters.hpp"

#include <unistd.h>

#include <iostream>
#include <memory>

namespace troupe {

namespace {

std::string_view word_for(layer_state state) {
  switch (state) {
  case layer_state::enforced:
    return "enforced";
  case layer_state::degraded:
    return "degraded";
  case layer_state::absent:
    return "absent";
  }
  return "absent";
}

struct finding {
  std::string name;
  std::string state;
  bool core = false;
  std::string reason;
  std::string advice;
};

void add_interpreter(std::vector<finding>& out, const char* name,
                     const interpreter& found, const char* advice) {
  finding f{name, "found", false, found.path, ""};
  if (::access(found.path.c_str(), X_OK) != 0) {
    f.state = "absent";
    f.reason = found.path + " cannot be executed";
    f.advice = advice;
  }
  out.push_back(std::move(f));
}

std::vector<finding> look(const isolation::probe_report& report) {
  std::vector<finding> out;
  for (const auto& layer : report.layers)
    out.push_back({layer.name, std::string{word_for(layer.state)}, layer.core,
                   layer.reason, layer.advice});
  auto found = find_interpreters({});
  add_interpreter(out, "python", found.python,
                  "install python3, or set local.python");
  add_interpreter(out, "node", found.node,
                  "install nodejs for TypeScript tools, or set local.node");
  return out;
}

void print_for_people(const std::vector<finding>& findings,
                      const std::string& trouble) {
  for (const auto& f : findings) {
    std::cout << (f.state == "enforced" || f.state == "found" ? "ok    "
                    : f.state == "degraded"                   ? "weak  "
                                                              : "none  ")
              << f.name;
    if (!f.reason.empty())
      std::cout << ": " << f.reason;
    if (f.core && f.state == "absent")
      std::cout << " (runs are refused without it)";
    if (!f.advice.empty())
      std::cout << "\n      " << f.advice;
    std::cout << "\n";
  }
  std::cout << (trouble.empty()
                  ? "\nThis host runs tools in full isolation.\n"
                  : "\nThis host cannot run tools: " + trouble + "\n");
}

int examine(bool as_json) {
  auto engine = local_engine::open({});
  if (!engine)
    return complain(engine.error().text, exit_ours);
  auto ready = (*engine)->wait_until_probed();
  auto findings = look((*engine)->backend().probe());
  auto trouble = ready ? std::string{} : ready.error().text;
  if (!as_json) {
    print_for_people(findings, trouble);
    return ready ? exit_ok : exit_tool_failed;
  }
  json::array layers;
  for (const auto& f : findings)
    layers.push_back({{"name", f.name},
                      {"state", f.state},
                      {"core", f.core},
                      {"reason", f.reason},
                      {"advice", f.advice}});
  json::object report{{"ready", trouble.empty()},
                      {"reason", trouble},
                      {"findings", std::move(layers)}};
  std::cout << json::to_text(report) << "\n";
  return ready ? exit_ok : exit_tool_failed;
}

} // namespace

void add_doctor_command(CLI::App& app, invocation& call) {
  auto as_json = std::make_shared<bool>(false);
  auto* cmd = app.add_subcommand(
    "doctor", "Say what this host can isolate, and what to do about the rest");
  cmd->add_flag("--json", *as_json, "For programs");
  call.on(cmd, [as_json] { return examine(*as_json); });
}

} // namespace troupe
