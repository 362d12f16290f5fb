#pragma once

#include <cstdint>

/// What the engine, a zygote and its slots say to each other: one packet, one
/// fixed struct, descriptors beside it. Both ends come from one binary, so the
/// layout is the compiler's; `tag` catches a stale module. Used inside a
/// foreign interpreter too: plain types only.
namespace troupe::zygote {

inline constexpr std::uint32_t tag = 0x747a7931; // "tzy1"

enum class word : std::uint32_t {
  // engine -> zygote
  make_slot = 1, // descriptors in the order of `slot_fd`, then the groups'
  // zygote -> engine
  ready,     // preloaded, frozen, alone: may be used
  unfit,     // `status` says which promise the preload broke
  slot_born, // `slot` is process `pid`
  slot_gone, // process `pid` was reaped, with `status`
  // engine -> slot
  run,     // descriptors: stdout, stderr, channel
  prefork, // fork a child that waits for `run` on the slot's other socket ...
  warm,    // ... and, told so there, does some work of ours before
  kill,    // ends the current run
  taken,   // the listener is with the engine: the slot lets go of it
  // slot -> engine
  slot_ready,  // isolated; `listener`, if there is one, waits to be fetched
  slot_failed, // `step` said `error_number`; the slot is gone
  over,        // the run was alone, has ended and is killed: `exited` follows
  exited,      // the run and everything it started is dead
};

/// The first descriptors of `make_slot`.
enum slot_fd : int {
  orders_fd,    // this protocol, to the slot
  preforked_fd, // `run` for a child that waits
  plan_fd,      // memory with an encoded isolation::plan
  groups_from   // `groups` of them: cgroup.procs, written once
};

/// Flags of `make_slot`: which descriptors follow the groups, in this order.
enum : std::uint32_t {
  has_peak = 1,     // memory.max_usage_in_bytes or memory.peak
  has_events = 2,   // memory.oom_control or memory.events
  has_forks = 16,   // pids.events
  new_user = 4,     // the slot waits for an identity map: `uid` and `gid`
  privileged = 8,   // ... which are not the zygote's own
  has_network = 32, // its filter asks: `slot_born` comes with a pidfd
};

/// Flags of `run`.
enum : std::uint32_t {
  report_early = 1, // somebody waits for nothing but the end of this one
};

/// Flags of `exited`, and of `over`, but for `clean`.
enum : std::uint32_t {
  clean = 1,           // nothing is left in the slot: it may be used again
  memory_exceeded = 2, // the kernel killed for memory
  disk_full = 4,       // bytes or inodes of the scratch were used up
  forks_refused = 8,   // by the group's limit
  never_began = 16,    // no child could be made
};

/// Why a preload is `unfit`.
enum class unfit_reason : std::int32_t { threads = 1, program = 2 };

struct packet {
  std::uint32_t tag = zygote::tag;
  word what = word::ready;
  std::uint64_t slot = 0;
  std::uint32_t flags = 0;
  std::uint32_t groups = 0; // descriptors of cgroups
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::int32_t pid = 0;
  std::int32_t status = 0; // as wait4 gives it
  std::int32_t error_number = 0;
  std::int32_t listener = -1;         // of `slot_ready`: its number in the slot
  std::uint32_t step = 0;             // isolation::step
  std::uint64_t clone_flags = 0;      // of `make_slot`: its namespaces
  std::uint64_t cpu_seconds = 0;      // of `run`: a limit, 0: the slot's
  std::uint64_t cpu_microseconds = 0; // of `exited`: used, by everybody
  std::uint64_t peak_bytes = 0;
  std::uint64_t huge_pages = 0;  // of `ready`
  std::uint64_t hot_blocks = 0;  // of `ready`
  std::uint64_t ready_pages = 0; // of `ready`
};

/// The most descriptors in one packet.
inline constexpr int max_descriptors = 16;

} // namespace troupe::zygote
