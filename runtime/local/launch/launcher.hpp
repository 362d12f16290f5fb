#pragma once

#include "runtime/base/unique_fd.hpp"
#include "runtime/engine/backend.hpp"
#include "runtime/local/egress/broker.hpp"
#include "runtime/local/warden/protocol.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// One process to carry: everything decided, nothing begun. The descriptors
/// are the child's ends; the carrier owns them and closes them once the child
/// has them.
struct launch {
  prepared_run_ptr run;
  std::vector<std::string> argv;                   // argv[0] is a path inside
  std::vector<std::pair<std::string, secret>> env; // complete, from nothing
  std::string working_dir; // path inside, "": the private /tmp
  std::vector<warden::start_order::mount_source> shown; // beside the system's
  unique_fd in;                                         // empty: /dev/null
  unique_fd out;
  unique_fd err;
  unique_fd channel; // empty: a command, nobody listens
  /// The program is a runner of runtime/runner: a warm interpreter of
  /// `run->lang` will do as well as executing `argv`.
  bool is_runner = false;
  /// Of a runner: what must be equal for two runs to follow each other in one
  /// slot (launch_shape.hpp).
  std::string slot_key;
  /// Runs nothing of the source, and is not what somebody waits for.
  bool compile_only = false;
};

/// The engine's ends of what a process has.
struct parent_fds {
  unique_fd out;
  unique_fd err;
  unique_fd channel;
};

/// Makes the pipes of a process, and its channel where it is to have one;
/// false, with errno, when there are no descriptors left.
bool make_stdio(launch& what, parent_fds& ours, bool with_channel);

/// What a carrier saw of an ended process. Nothing of it is the tool's word.
struct process_exit {
  /// Not empty: the tool never began, and why.
  std::string start_failure;
  bool lost = false;   // the carrier died: the tool may have run
  int wait_status = 0; // as wait4 gives it
  bool killed = false; // by `kill`, or by a limit of the carrier's own
  bool memory_exceeded = false;
  bool processes_exceeded = false;
  bool cpu_exceeded = false;
  bool disk_full = false; // bytes or inodes of the scratch were used up
  std::chrono::microseconds wall{0};
  std::chrono::microseconds cpu{0};
  std::uint64_t peak_memory_bytes = 0;
  isolation_report isolation;
  std::vector<network_event> network;  // what the broker decided ...
  std::size_t network_dropped = 0;     // ... and how much more than that
  std::optional<network_event> denied; // by the run's policy, the first
  std::vector<std::string> notes;

  /// SIGXCPU is the kernel's word for it only then: a tool may send it to
  /// itself. Clocks differ a little.
  bool has_used(std::chrono::microseconds limit) const {
    return cpu >= limit * 9 / 10;
  }

  /// Somebody who makes calls of another architecture is killed for it only
  /// then.
  bool has_filter() const {
    return std::ranges::any_of(isolation.layers, [](const auto& l) {
      return l.name == "seccomp" && l.state != layer_state::absent;
    });
  }

  void add(network::broker::report&& decided) {
    network = std::move(decided.events);
    network_dropped = decided.dropped;
    denied = std::move(decided.denied);
    if (decided.lost)
      notes.push_back("the network broker of the run ended before the run did");
  }
};

/// Told by a carrier, on the backend's strand, `ended` exactly once and last;
/// by then nothing of the run can do anything (docs/decisions/0007).
struct carrier_events {
  std::function<void()> started; // the tool may have begun
  std::function<void(process_exit)> ended;
};

/// One way to get a contained process for a run: cold, prestarted or warm. The
/// local backend asks its launchers in order of speed and starts the run with
/// the first that accepts it. Used on the backend's strand only.
class launcher {
public:
  virtual ~launcher() = default;
  /// Whether this launcher accepts the launch now; asked in order of speed.
  virtual bool accepts(const launch& what) const = 0;
  /// A prestarted process already has its pipes. Returns the parent's ends of
  /// those; the ones in `what` are then unused. If it returns a value, `start`
  /// must be called next.
  virtual std::optional<parent_fds> take_prepared_channels(const launch&) {
    return std::nullopt;
  }
  /// Whether it forks runs from a warm interpreter.
  virtual bool is_forked() const { return false; }
  virtual void start(launch what, carrier_events events) = 0;
  /// Kills the whole tree at once; `ended` follows. Unknown ids are ignored.
  virtual void kill(const run_id& id) = 0;
  /// Kills everything and refuses more; every `ended` follows.
  virtual void stop() = 0;
};

} // namespace troupe
