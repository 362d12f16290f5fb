#pragma once

#include "runtime/local/egress/options.hpp"
#include "runtime/local/warm/options.hpp"
#include "runtime/model/isolation.hpp"
#include "runtime/model/limits.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

/// Settings of the local backend, with their defaults.
struct local_options {
  /// Where instances keep their lock, their record of cgroups and the runner
  /// programs. "": /run/troupe as root, else $XDG_RUNTIME_DIR/troupe, else
  /// /tmp/troupe-<uid>. Private to this user.
  std::string state_dir;

  /// Interpreters, as paths of the host. "": the first of a few usual places.
  std::string python;
  std::string node;
  std::string shell = "/bin/sh";

  /// More host directories that every run sees read-only: an interpreter
  /// outside of /usr, certificates of the site.
  std::vector<std::string> read_only_paths;

  /// As root every run gets an unused uid of its own from this range, which
  /// must belong to nobody: above systemd's containers, below nobody's.
  std::uint32_t first_uid = 1'900'000'000;
  std::uint32_t uid_count = 65'536; // divided among instances in blocks

  /// The engine's admission lets in no more than so many runs at a time. What
  /// waits here beyond that are runs of its own: installers, compiles, readings
  /// of schemas; too many of those are refused with `exhausted`.
  std::uint32_t max_running = 1'024;
  std::uint32_t max_own_waiting = 4'096;

  /// The least that a run may ask for is decided here: with `best_effort` a
  /// host that lacks a core layer runs tools all the same, and says so.
  isolation_level isolation = isolation_level::standard;

  /// End a run whose output exceeds its bound instead of cutting the output.
  bool end_on_output_limit = false;

  /// How long the warden may take to report an end that was asked for before
  /// it is replaced. Killing is done in milliseconds; a busy host needs more.
  std::chrono::milliseconds kill_grace{5'000};

  /// A warden that has not begun a run, granted or cleared a slot for so long
  /// hangs, and is replaced. Generous: a loaded host builds trees slowly.
  std::chrono::milliseconds warden_answers{30'000};

  /// Warm interpreters, which carry Python runs in about a millisecond. What
  /// they do not take starts cold.
  zygote::zygote_options zygote;

  /// Node processes that are started before their run comes, where Node cannot
  /// be forked; 0: none. Each takes some 10 MB of its own until then.
  std::uint32_t ready_node = 2;
  /// Without a run for so long, they end.
  std::chrono::milliseconds ready_idle{60'000};

  /// How names are looked up for runs that may use the network, and how much
  /// of that is remembered.
  network::broker_options network;

  /// Layers to treat as absent, by name: what a lesser host would be like. For
  /// tests; a setting must never lead here.
  std::vector<std::string> pretend_absent;
};

} // namespace troupe
