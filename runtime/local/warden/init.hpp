#pragma once

#include "runtime/local/isolation/plan.hpp"
#include "runtime/local/isolation/step.hpp"

#include <cstdint>

namespace troupe::warden {

/// What pid 1 of a run is given.
struct init_order {
  const isolation::plan* plan = nullptr;
  bool contained = true; // false: isolation is off, no namespace is ours
  int sync = -1;         // to the warden: one byte in, reports out
  int launch = -1;       // for the tool's eyes only
  int in = -1;           // -1: /dev/null
  int out = -1;
  int err = -1;
  int channel = -1; // -1: none
  int control = -1; // to the engine: a keeper of a sandbox, not a run
  std::uint64_t open_files = 1024; // what the tool may have open
};

enum class report_kind : std::uint8_t {
  failed,
  listening, // the filter asks `listener`: fetch it, then say so
  started,
  finished,
};

/// What pid 1 tells the warden, a packet each.
struct init_report {
  report_kind what = report_kind::failed;
  isolation::outcome failure;
  std::int32_t listener = -1; // a descriptor of pid 1
  std::int32_t wait_status = 0;
  bool disk_full = false;
  std::uint64_t cpu_us = 0; // the tool and what it waited for
  std::uint64_t peak_memory_bytes = 0;
};

/// The life of pid 1: waits for the go-ahead, contains itself, forks the tool,
/// reaps, kills what is left, reports. Never returns. Runs in a forked copy of
/// the warden, which never held a secret.
[[noreturn]] void run_init(const init_order& order) noexcept;

} // namespace troupe::warden
