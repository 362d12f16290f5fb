// Sandboxes that live on this machine, beside what others begin a process with:
// a plain spawn, one shot of bubblewrap, and a byte to another process and
// back.
#include "bench/sandboxes/machine.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace troupe::bench {

namespace {

constexpr std::size_t rounds = 60;
constexpr std::size_t many = 1'000;
constexpr std::size_t beside_each_other = 64;
constexpr std::size_t processes_inside = 250;

const std::vector<std::string> no_work{"/bin/true"};

double us(const std::vector<double>& s) {
  return median(s) * 1e6;
}

/// One shot of the usual tool, with the whole root bound; empty: it is not
/// installed.
std::vector<std::string> bubblewrap() {
  for (const char* place : {"/usr/bin/bwrap", "/usr/local/bin/bwrap"})
    if (::access(place, X_OK) == 0)
      return {place,    "--unshare-all", "--ro-bind", "/",    "/",
              "--proc", "/proc",         "--dev",     "/dev", "/bin/true"};
  return {};
}

/// Against one shot of bubblewrap, where there is it.
void add_against(report& out, const std::string& name,
                 const std::vector<double>& ours,
                 const std::vector<double>& shots, double bound) {
  out.add("sandboxes." + name + ".p50", us(ours), "us");
  if (!shots.empty())
    out.at_most("sandboxes." + name + ".vs_bwrap", median_ratio(ours, shots),
                "x", bound);
}

/// 1, 7: everything made and ended at once.
void measure_life(report& out, const std::vector<std::string>& shot) {
  sandbox_machine here;
  sandbox_handle fresh;
  std::vector<work> sides{[&] { fresh = here.make(); },
                          [&] { here.destroy(fresh); }};
  if (!shot.empty())
    sides.push_back([&] { spawn_and_wait(shot); });
  // In this order: what was made last is what ends.
  std::vector<std::vector<double>> took(sides.size());
  for (std::size_t i = 0; i <= rounds; ++i)
    for (std::size_t side = 0; side < sides.size(); ++side) {
      const auto time = seconds(sides[side]);
      if (i > 0)
        took[side].push_back(time);
    }
  const auto shots
    = shot.empty() ? std::vector<double>{} : std::move(took.back());
  add_against(out, "create", took[0], shots, 0.8);
  out.add("sandboxes.create.p99", quantile(took[0], 0.99) * 1e6, "us");
  add_against(out, "destroy", took[1], shots, 0.25);
  std::vector<double> crowded;
  for (std::size_t i = 0; i < 5; ++i) {
    auto box = here.make();
    here.run(box,
             {"/bin/sh", "-c",
              "i=0; while [ $i -lt " + std::to_string(processes_inside)
                + " ]; do sleep 1000 >/dev/null 2>&1 & i=$((i+1)); done"});
    crowded.push_back(seconds([&] { here.destroy(box); }));
  }
  out.at_most("sandboxes.destroy.per_process",
              (us(crowded) - us(took[1]))
                / static_cast<double>(processes_inside),
              "us", 200);
}

/// 2, 3: with some that were made before; at once, and after a pause.
void measure_prepared(report& out, const std::vector<std::string>& shot) {
  sandbox_machine here{2};
  here.destroy(here.make());
  std::vector<double> soon, later, shots;
  for (std::size_t i = 0; i < rounds; ++i) {
    for (auto* times : {&soon, &later}) {
      here.wait_until_prepared();
      if (times == &later)
        std::this_thread::sleep_for(std::chrono::milliseconds{25});
      sandbox_handle box;
      times->push_back(seconds([&] { box = here.make(); }));
      here.destroy(box);
    }
    if (!shot.empty())
      shots.push_back(seconds([&] { spawn_and_wait(shot); }));
  }
  add_against(out, "create.prepared", soon, shots, 0.3);
  out.at_most("sandboxes.create.prepared.p99_by_p50",
              quantile(soon, 0.99) / median(soon), "x", 3);
  add_against(out, "create.after_a_pause", later, shots, 0.4);
}

/// 4, 5, 15, 20: what goes on in one.
void measure_use(report& out) {
  sandbox_machine here;
  const auto living = here.make();
  const std::vector<std::string> python{"/usr/bin/python3", "-c", "pass"};
  byte_echo echo;
  const auto all = interleave(
    rounds,
    {[&] { spawn_and_wait(no_work); }, [&] { here.run(living, no_work); },
     [&] { spawn_and_wait(python); }, [&] { here.run(living, python); },
     [&] { spawn_and_wait(no_work, beside_each_other); },
     [&] { here.run_at_once(living, beside_each_other); },
     [&] { echo.round_trip(); }, [&] { here.read_file(living); }});
  out.add("sandboxes.spawn.p50", us(all[0]), "us");
  out.add("sandboxes.execute.p50", us(all[1]), "us");
  out.at_most("sandboxes.execute.vs_spawn", median_ratio(all[1], all[0]), "x",
              2.2);
  out.at_most("sandboxes.python.vs_spawn", median_ratio(all[3], all[2]), "x",
              1.25);
  out.at_least("sandboxes.execute.64_at_once.vs_spawn",
               median_ratio(all[4], all[5]), "x", 0.5);
  out.add("sandboxes.echo.p50", us(all[6]), "us");
  out.add("sandboxes.read_file.p50", us(all[7]), "us");
  out.at_most("sandboxes.read_file.vs_echo", median_ratio(all[7], all[6]), "x",
              3);
}

double available_mib() {
  std::ifstream file{"/proc/meminfo"};
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("MemAvailable:"))
      return std::stod(line.substr(13)) / 1024;
  return 0;
}

std::size_t descriptors() {
  std::error_code none;
  return static_cast<std::size_t>(std::distance(
    std::filesystem::directory_iterator{"/proc/self/fd", none}, {}));
}

/// 4, 6 and a part of 24: one of a thousand.
void measure_many(report& out) {
  sandbox_machine here;
  here.destroy(here.make());
  const auto before = descriptors();
  const auto free_before = available_mib();
  std::vector<sandbox_handle> all;
  for (std::size_t i = 0; i < many; ++i)
    all.push_back(here.make());
  out.at_most("sandboxes.idle.of_1000",
              (free_before - available_mib()) / static_cast<double>(many),
              "MiB", 1);
  std::size_t turn = 0;
  const auto took
    = interleave(rounds,
                 {[] { spawn_and_wait(no_work); },
                  [&] { here.run(all[turn++ * 17 % many], no_work); }});
  out.at_most("sandboxes.execute.of_1000.vs_spawn",
              median_ratio(took[1], took[0]), "x", 2.5);
  for (const auto& one : all)
    here.destroy(one);
  out.at_most("sandboxes.left_behind.descriptors",
              static_cast<double>(descriptors()) - static_cast<double>(before),
              "", 0);
}

void measure_sandboxes(report& out) {
  const auto shot = bubblewrap();
  measure_life(out, shot);
  measure_prepared(out, shot);
  measure_use(out);
  measure_many(out);
  measure_engine_part(out);
  if (shot.empty())
    out.note("bubblewrap is not installed: what is measured against one shot "
             "of it (`bwrap --unshare-all`) has no bound here");
  out.note("execute: /bin/true in a living sandbox against posix_spawn and "
           "wait on the host; python: the same with `/usr/bin/python3 -c "
           "pass`; echo: a "
           "byte to another process and back; create.prepared: with two kept "
           "ready; left behind after 10,000: ./dev soak");
}

const area sandboxes{"sandboxes", "sandboxes that live on this machine",
                     measure_sandboxes};

} // namespace

} // namespace troupe::bench
