#pragma once

#include "runtime/model/warm_optimizations.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace troupe::zygote {

/// What every interpreter imports before it is forked: what tools find loaded
/// at Letta, as far as the host has it.
std::vector<std::string> default_preload();

/// Settings of the warm interpreters, with their defaults.
struct zygote_options : warm_optimizations {
  bool enabled = true;
  /// Node as well; it starts with the first run that could use it.
  bool node = true;

  /// Modules of the operator's interpreter, imported once. One that is absent
  /// is skipped; one that starts a thread makes the zygote unfit.
  std::vector<std::string> preload = default_preload();

  /// Slots that may exist at a time; 0.1 MB each while idle. More runs than
  /// that start cold.
  std::uint32_t max_slots = 1'024;
  /// Slots that are being made at a time. Each costs some 3 ms of CPU, and
  /// waits for as long again while the kernel moves it into its groups.
  std::uint32_t max_making = 16;
  /// Strict runs use a slot up: so many are made ahead for each that runs.
  std::uint32_t spares = 4;
  /// Slots of one organization with nothing to do are kept this long.
  std::chrono::milliseconds idle_slot{60'000};

  /// Children that are forked and warmed ahead while nothing runs.
  std::uint32_t preforked = 1;
  /// How long nothing must have run before one is made: a busy engine gains
  /// nothing by forking ahead.
  std::chrono::microseconds prefork_after{1'500};

  /// A new interpreter replaces the old one after so many runs or so long:
  /// its children share one hash seed and one address layout.
  std::uint64_t runs_per_zygote = 100'000;
  std::chrono::milliseconds zygote_age{15 * 60'000};
  /// After a failed start; doubles up to a minute.
  std::chrono::milliseconds restart_delay{200};

  /// A slot that has not ended its run so long after it was told to is killed
  /// as a group, from outside.
  std::chrono::milliseconds kill_grace{500};

  /// An interpreter that has not made a slot for so long is given up: whoever
  /// waits starts cold. It takes milliseconds; a busy host needs more.
  std::chrono::milliseconds make_within{15'000};

  /// What `hot_blocks` has to know is found out after so many runs.
  std::uint64_t learn_after = 200;
};

} // namespace troupe::zygote
