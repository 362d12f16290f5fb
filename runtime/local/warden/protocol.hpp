#pragma once

#include "runtime/local/isolation/probe/probe.hpp"
#include "runtime/local/isolation/step.hpp"
#include "runtime/model/isolation.hpp"
#include "runtime/model/limits.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What the engine and its warden say to each other over one SOCK_SEQPACKET
/// socketpair: a packet per message, descriptors beside it. Both ends are one
/// binary, but every packet is parsed as if it were foreign.
namespace troupe::warden {

/// argv[1] of the warden: `troupe __warden ...`. Whoever links this room's
/// library and opens a backend calls `warden_main` first thing in main.
inline constexpr const char* command = "__warden";
int warden_main(int argc, char** argv);

/// Whether a program's arguments (as /proc/PID/cmdline has them) say that it
/// was started as a warden. One that then opens a backend forgot to call
/// `warden_main`: its backend would start it again, without end.
bool is_warden(std::string_view command_line);

inline constexpr std::uint32_t magic = 0x74727731; // "trw1"
inline constexpr std::size_t max_packet = 64u << 10;
inline constexpr int max_descriptors = 16;

enum class word : std::uint16_t {
  // engine -> warden
  start = 1, // a run: descriptors launch block, stdin?, out, err, channel?
  kill,      // ends a run with everything it started; or another process
  stop,      // kills all, cleans up, exits
  lease,     // the ground for a slot of a warm interpreter, ordered as a run
  release,   // that slot is of no more use: whoever is in it dies
  spawn_interpreter, // an interpreter: its control socket beside it
  broker, // of a slot's or a run's network; its four descriptors beside it
  keep,   // a sandbox, ordered as a run; its keeper's socket beside it
  freeze, // a sandbox stands still; answered by `ended`, EAGAIN: not yet
  thaw,   // it goes on; answered likewise
  cut,    // one in which nothing runs ends, and what it wrote is a layer named
          // as the question; answered by `ended`, EBUSY: something runs
  drop,   // a layer
  lend,   // memory that a sandbox has made outlives it, in others; answered by
          // `ended` with what its group has in use, in `peak_memory_bytes`
  // warden -> engine
  hello,    // once, first: what the host offers
  started,  // the program was executed; its filter's listener, if it has one
  ended,    // nothing of the run is left; or no lease, no other process
  released, // nothing is left of a released slot
  leased,   // descriptors: plan, cgroup.procs of each group, peak?, events?...
};

/// A run as the warden sees it: no argument, no variable, no source. Those are
/// in the launch block, which only the tool's own process reads.
struct start_order {
  std::uint64_t ticket = 0; // of the engine's choosing, never used again
  isolation_level level = isolation_level::standard;
  bool has_stdin = false;
  bool has_channel = false;
  bool notify_network = false; // the filter's listener goes to the broker
  troupe::limits limits;
  std::uint32_t cpus = 0; // at a time, of a sandbox; 0: all there are
  std::string working_dir = "/tmp";
  struct mount_source {
    std::string host;
    std::string inside;
    bool writable = false;
    bool exactly = false; // tenants may own what lies on the way: no links
  };
  std::vector<mount_source> shown;
  /// keep: below what it writes, the top one first. With `copies` it only makes
  /// a layer, of what that sandbox has written so far.
  std::vector<std::uint64_t> layers;
  std::uint64_t copies = 0;
};

/// The end of a run as the warden saw it.
struct end_notice {
  std::uint64_t ticket = 0;
  isolation::outcome failure; // not ok: the program was never executed
  std::int32_t wait_status = 0;
  bool killed = false;
  bool memory_exceeded = false;
  bool processes_exceeded = false;
  bool cpu_exceeded = false;
  bool disk_full = false;
  std::uint64_t wall_us = 0;
  std::uint64_t cpu_us = 0;
  std::uint64_t peak_memory_bytes = 0;
  std::string detail;            // with a failure: what to know about it
  std::uint64_t layer_bytes = 0; // of the one that was made
  std::uint64_t layer_inodes = 0;
};

/// The sandbox of a slot, besides its descriptors.
struct lease_grant {
  std::uint64_t ticket = 0;
  std::uint64_t clone_flags = 0;
  std::uint32_t uid = 0; // of the host, for the identity map
  std::uint32_t gid = 0;
  bool new_user = false;
  bool privileged = false;
  bool namespaces_per_run = false;
  std::uint8_t groups = 0; // how many cgroup.procs
  bool has_peak = false;
  bool has_events = false;
  bool has_forks = false;
  bool has_cpu = false;
};

struct message {
  word what = word::stop;
  start_order start;             // start, lease, keep
  std::uint64_t ticket = 0;      // of all but those with a struct of their own
  std::uint64_t of = 0;          // freeze, thaw, cut: the sandbox's ticket
  std::uint64_t most = 0;        // cut: bytes that the layer may have
  std::vector<std::string> argv; // spawn_interpreter
  lease_grant grant;             // leased
  end_notice end;                // ended
  isolation::probe_report hello;
};

std::string encode(const message& m);
/// False for anything that is not exactly one message.
bool decode(std::string_view packet, message& out);

} // namespace troupe::warden
