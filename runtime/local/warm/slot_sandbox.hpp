#pragma once

#include "runtime/base/unique_fd.hpp"
#include "runtime/local/egress/broker.hpp"
#include "runtime/local/launch/launcher.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::zygote {

/// What the runs of a slot may connect to, and how that is decided.
struct brokered_network {
  network_policy policy;
  network::broker_options options;
  organization_id organization;
  std::weak_ptr<network::broker_host> host;
};

/// The sandbox of a slot, prepared by the warden, which has the privileges.
struct slot_sandbox {
  std::uint64_t ticket = 0;
  std::uint64_t clone_flags = 0;
  bool new_user = false;           // the slot needs an identity map ...
  bool privileged = false;         // ... to ids that are not the zygote's own
  bool namespaces_per_run = false; // no run finds anything of the one before
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  unique_fd plan;                // memory with an encoded isolation::plan
  std::vector<unique_fd> groups; // cgroup.procs to join
  unique_fd peak;                // each may be absent
  unique_fd events;              // the engine keeps it as well
  unique_fd forks;
  unique_fd cpu; // of the whole group; stays with the engine
  std::optional<brokered_network> network; // absent: none at all
  isolation_report report;
  std::vector<std::string> notes;
};

/// Who prepares slot_provisioner and starts interpreters. Used on the backend's
/// strand; answers come there too.
class slot_provisioner {
public:
  virtual ~slot_provisioner() = default;
  /// For runs that look like this one.
  virtual void prepare(const launch& like,
                       std::function<void(result<slot_sandbox>)> done)
    = 0;
  /// Whoever is left in the sandbox dies, and it is removed; then `gone`.
  virtual void release(std::uint64_t ticket, std::function<void()> gone) = 0;
  /// Executes an interpreter with an environment from nothing; `control`
  /// becomes its descriptor 3. `failed` when it could not start, or has ended;
  /// that it works, it says itself. Its number, for who wants it dead.
  virtual std::uint64_t spawn_interpreter(std::vector<std::string> argv,
                                          unique_fd control,
                                          std::function<void(error)> failed)
    = 0;
  virtual void kill_interpreter(std::uint64_t number) = 0;
};

} // namespace troupe::zygote
