#include "app/assembly/options_from_settings.hpp"
#include "app/assembly/provider_options.hpp"
#include "app/cli/api_client.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/provider_self_test.hpp"
#include "app/cli/settings_options.hpp"
#include "app/cli/table.hpp"
#include "runtime/json/json.hpp"
#include "storage/adapters/sandbox_leases.hpp"

#include <iostream>
#include <memory>

namespace troupe {

namespace {

struct backend_options {
  std::string name;
  bool as_json = false;
  bool dry_run = false;
};

// -- list ---------------------------------------------------------------------

/// What an engine says of its own backends; nothing where nobody serves, or
/// whoever does lets us in no further than to say why.
json::array live_backends(const session_options& how) {
  auto engine = api_client::find(how);
  if (engine && !*engine)
    return {};
  auto all = engine ? (*engine)->call(api_client::verb::get, "/v1/backends")
                    : result<json::value>{engine.error()};
  if (all)
    return std::move(all->as_object()["items"].as_array());
  std::cerr << "troupe: cannot get the health of backends: " << all.error().text
            << "\n";
  return {};
}

json::array known_backends(const settings& s) {
  json::array all;
  auto add = [&](std::string_view name, bool on, std::string place,
                 std::string_view hint) {
    all.push_back(
      {{"name", name}, {"configured", on}, {"place", place}, {"hint", hint}});
  };
  add("local", s.local.enabled, "", "set local.enabled = true");
  for (const auto& each : provider_accounts(s))
    add(to_string(each.name), each.is_configured(),
        each.provider->address(*each.as), each.provider->way_in);
  std::string seeds;
  for (const auto& seed : s.cluster.seeds)
    seeds += (seeds.empty() ? "" : ", ") + seed;
  add("peer", !seeds.empty(), seeds, "set cluster.seeds");
  add("webhook", !s.credentials.webhook_url.empty(), s.credentials.webhook_url,
      "set credentials.webhook-url (STEP_ORCHESTRATOR_ENDPOINT)");
  return all;
}

/// What the engine sees wins over what these settings say. `elsewhere`: it need
/// not have these settings, so that addresses are not told.
void print_known(const json::array& all, bool elsewhere) {
  table rows{{"BACKEND", "IS", "CIRCUIT", "RUNNING", "WHERE"}};
  for (const auto& one : all) {
    auto live = one.get_object().if_contains("live");
    bool on = cell(live ? *live : one, "configured") == "true";
    bool ready = live && cell(*live, "ready") == "true";
    auto where = !on      ? cell(one, "hint")
      : live && elsewhere ? std::string{}
                          : cell(one, "place");
    // One that is well by its own word may be left alone all the same.
    const bool closed = live && cell(*live, "circuit") == "closed";
    const bool is_open = live && cell(*live, "circuit") == "open";
    if (on && live && !(ready && closed))
      where += (where.empty() ? "" : ": ") + cell(*live, "reason");
    rows.add({cell(one, "name"),
              !on       ? "off"
                : ready ? (is_open ? "paused" : "ready")
                : live  ? "not ready"
                        : "on",
              on && live ? cell(*live, "circuit") : "",
              on && live ? cell(*live, "running") : "", where});
    if (auto nodes = live ? live->get_object().if_contains("nodes") : nullptr)
      for (const auto& node : nodes->as_array()) {
        const auto reason = cell(node, "reason");
        rows.add({"  " + cell(node, "name"),
                  cell(node, "ready") == "true" ? "ready" : "not ready",
                  cell(node, "circuit"), cell(node, "running"),
                  reason == "ready" ? "" : reason});
      }
  }
  rows.show();
}

int list_backends(const session_options& from, bool as_json) {
  auto loaded = from.from->load();
  if (!loaded)
    return print_error(loaded.error());
  auto all = known_backends(loaded->values);
  for (auto& live : live_backends(from))
    for (auto& one : all)
      if (cell(one, "name") == cell(live, "name"))
        one.as_object()["live"] = live;
  if (as_json)
    std::cout << json::to_text(all) << "\n";
  else
    print_known(all, !from.server.empty());
  return exit_ok;
}

// -- test ---------------------------------------------------------------------

int test(settings_options& from, const backend_options& how) {
  auto loaded = from.load();
  if (!loaded)
    return print_error(loaded.error());
  json::array steps;
  auto tell = [&](const trial_step& step) {
    if (!how.as_json)
      std::cout << (step.fine ? "ok    " : "FAIL  ") << step.name << " ("
                << step.took.count() << " ms): " << step.detail << std::endl;
    steps.push_back({{"step", step.name},
                     {"ok", step.fine},
                     {"milliseconds", step.took.count()},
                     {"detail", step.detail}});
  };
  bool fine = false;
  if (how.name == "webhook") {
    fine = try_webhook(loaded->values, tell);
  } else {
    auto account = find_account(loaded->values, how.name);
    if (!account)
      return print_error(account.error());
    fine = try_provider(*account, tell);
  }
  if (how.as_json)
    std::cout << json::to_text(
      json::object{{"backend", how.name}, {"ok", fine}, {"steps", steps}})
              << "\n";
  else
    std::cout << (fine ? how.name + " works\n"
                       : how.name
                      + " does not work; see the line above for the reason\n");
  return fine ? exit_ok : exit_tool_failed;
}

// -- gc -----------------------------------------------------------------------

int collect(settings_options& from, const backend_options& how) {
  auto loaded = from.load();
  if (!loaded)
    return print_error(loaded.error());
  auto& s = loaded->values;
  auto opened = open_store(store_options_from(s));
  if (!opened)
    return print_error(std::move(opened).error().within(
      "open the leases (a running engine collects by itself)"));
  auto kept = std::make_shared<store>(std::move(*opened));
  auto book = make_stored_leases(kept);
  json::array all;
  auto worst = exit_ok;
  for (const auto& account : provider_accounts(s)) {
    if (!account.is_configured())
      continue;
    auto found = collect_leftovers(account, book, how.dry_run);
    if (!found) {
      std::cerr << "troupe: " << account.name.text() << ": "
                << found.error().text << "\n";
      worst = exit_tool_failed;
      continue;
    }
    for (auto& each : *found) {
      if (!how.as_json)
        std::cout << (how.dry_run ? "would delete " : "ended ")
                  << account.name.text() << " sandbox " << each.sandbox << "\n";
      all.push_back({{"backend", account.name.text()},
                     {"sandbox", each.sandbox},
                     {"lease", each.tag}});
    }
  }
  if (how.as_json)
    std::cout << json::to_text(all) << "\n";
  else if (all.empty() && worst == exit_ok)
    std::cout << "no orphaned sandboxes\n";
  return worst;
}

} // namespace

void add_backend_command(CLI::App& app, invocation& call) {
  auto how = std::make_shared<backend_options>();
  auto backend = app.add_subcommand(
    "backend", "List and test backends, clean up their sandboxes");

  auto shown = backend->add_subcommand(
    "list", "List backends, how to enable each, and their health");
  shown->add_flag("--json", how->as_json, "Print JSON");
  auto list_from = add_session_options(*shown);
  call.on(shown,
          [how, list_from] { return list_backends(*list_from, how->as_json); });

  auto tried = backend->add_subcommand(
    "test", "Test credentials against the real service, step by step");
  tried
    ->add_option("backend", how->name,
                 "e2b, daytona, modal, aio, one of your other accounts there "
                 "(e2b.research), or webhook")
    ->required();
  tried->add_flag("--json", how->as_json, "Print JSON");
  auto test_from = add_settings_options(*tried);
  call.on(tried, [how, test_from] { return test(*test_from, *how); });

  auto gc = backend->add_subcommand(
    "gc", "Delete sandboxes orphaned by a crash; the engine must be stopped");
  gc->add_flag("--dry-run", how->dry_run, "Only print which");
  gc->add_flag("--json", how->as_json, "Print JSON");
  auto gc_from = add_settings_options(*gc);
  call.on(gc, [how, gc_from] { return collect(*gc_from, *how); });
}

} // namespace troupe
