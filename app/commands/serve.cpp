#include "app/cli/api_client.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/settings_check.hpp"
#include "app/cli/settings_options.hpp"
#include "app/daemon/engine_process.hpp"
#include "app/daemon/signals.hpp"
#include "app/daemon/systemd_notify.hpp"
#include "app/logging/logging.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/process_hardening.hpp"

#include <string.h>

#include <algorithm>
#include <iostream>
#include <memory>

namespace troupe {

namespace {

/// What to ask for a first try. A certificate is for names, and 0.0.0.0 is no
/// address that anybody can be reached at.
std::string first_try(std::string_view url) {
  auto port = url.substr(url.rfind(':'));
  if (url.starts_with("https://"))
    return "curl https://NAME" + std::string{port}
    + "/livez (NAME: a host name in the certificate)";
  auto host = url.substr(0, url.size() - port.size());
  if (host == "http://0.0.0.0" || host == "http://[::]")
    host = "http://localhost";
  return "curl " + std::string{host} + std::string{port} + "/livez";
}

void print_banner(const engine_process& h) {
  auto urls = h.urls();
  for (auto& url : urls) {
    std::cout << "troupe " TROUPE_VERSION " serves " << url << "\n";
    log::info("serving HTTP", {{"url", url}});
  }
  if (auto port = h.link_port()) {
    auto text = std::to_string(port);
    std::cout << "cluster connections: port " << text << "\n";
    log::info("accepting cluster connections", {{"port", text}});
  }
  if (!urls.empty())
    std::cout << "try: " << first_try(urls.front()) << "\n";
  std::cout.flush();
}

std::string status_of(const engine_process& h) {
  std::string out{"serving"};
  for (auto& url : h.urls())
    out += " " + url;
  return out;
}

/// SIGHUP: what can change while everything runs. A file that cannot be read
/// changes nothing.
void reload(settings_options& from, logging& log, engine_process& h) {
  auto again = from.load();
  if (!again) {
    log::error("settings not reloaded", {{"reason", again.error().text}});
    return;
  }
  log.hide_all(again->values);
  log.least(logging_options::from(again->values).least);
  if (auto fresh = h.reload(); !fresh)
    log::error("certificate not reloaded", {{"reason", fresh.error().text}});
  log::info("settings reloaded",
            {{"reloaded", "log.level, TLS files"},
             {"other_settings", "after a restart"}});
}

int wait_for_the_end(settings_options& from, logging& log, engine_process& h,
                     const stop_signals& signals,
                     const systemd_notify& manager) {
  for (;;) {
    auto came = signals.wait();
    if (!came.reload)
      return came.number;
    manager.reloading();
    reload(from, log, h);
    manager.ready(status_of(h));
  }
}

/// Signs of life for systemd, twice as often as it wants them, while every
/// thread turns and the engine answers: one that is busy may take its time.
watchdog_options watched_for(const systemd_notify& manager) {
  watchdog_options o;
  if (manager.watchdog().count() == 0)
    return o;
  auto half
    = std::chrono::duration_cast<std::chrono::milliseconds>(manager.watchdog())
    / 2;
  o.every = std::clamp(half, std::chrono::milliseconds{1}, o.every);
  o.well_within = half;
  o.all_well = [&manager] { manager.alive(); };
  return o;
}

int serve(settings_options& from) {
  // Before the first secret is read.
  if (auto hidden = keep_memory_private(); !hidden)
    return print_api_error(hidden.error());
  auto loaded = from.load();
  if (!loaded)
    return print_error(loaded.error());
  // Before the first thread: all of them inherit the mask.
  stop_signals signals;
  auto manager = systemd_notify::from_environment();
  logging log{logging_options::from(loaded->values)};
  log.hide_all(loaded->values);
  for (auto& warning : loaded->warnings)
    log::warning(warning);

  auto opened = engine_process::open(*loaded, watched_for(manager));
  if (!opened)
    return print_error(opened.error());
  print_banner(**opened);
  manager.ready(status_of(**opened));
  auto number = wait_for_the_end(from, log, **opened, signals, manager);
  manager.stopping();
  log::info("stopping", {{"signal", ::sigabbrev_np(number)}});
  signals.stop_waiting();
  (*opened)->stop();
  log::info("stopped");
  return exit_ok;
}

struct check_options {
  bool only = false;
  bool as_json = false;
};

} // namespace

void add_serve_command(CLI::App& app, invocation& call) {
  auto check = std::make_shared<check_options>();
  auto cmd
    = app.add_subcommand("serve", "Run the server until SIGTERM or ctrl-c");
  auto only = cmd->add_flag("--check-config", check->only,
                            "Check all settings and exit");
  cmd->add_flag("--json", check->as_json, "Print JSON")->needs(only);
  auto from = add_settings_options(*cmd);
  cmd->footer("\nEvery setting can be passed as --group.key=value; see "
              "`troupe config keys`.\nSIGHUP reloads log.level and the TLS "
              "files; other settings require a restart.");
  call.on(cmd, [from, check] {
    return check->only ? check_settings(*from, check->as_json) : serve(*from);
  });
}

} // namespace troupe
