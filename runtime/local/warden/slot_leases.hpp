#pragma once

#include "runtime/base/unique_fd.hpp"
#include "runtime/local/isolation/plan.hpp"
#include "runtime/local/warden/cold_run.hpp"
#include "runtime/local/warden/protocol.hpp"

#include <map>
#include <vector>

namespace troupe::warden {

/// What a warm interpreter's slot stands on, made here because only the warden
/// may: control groups, a uid, a plan. The slot itself is nobody's child here;
/// the warden knows it by its group.
class slot_leases {
public:
  /// Fills in the grant and its descriptors. On failure the resources stay the
  /// caller's.
  isolation::outcome grant(const start_order& order, isolation::plan plan,
                           run_resources& resources, lease_grant& out,
                           std::vector<unique_fd>& descriptors);

  /// The slot was told to end itself. Whoever is left after a moment is
  /// killed, and `bury` hands back what it stood on.
  /// False: there is no such lease, nothing of it is left.
  bool release(std::uint64_t ticket);
  void release_all();

  struct leftover_processes {
    std::uint64_t ticket = 0;
    run_resources resources;
    int looks = 0;
  };
  /// What released slots stood on, once nobody is left in it.
  std::vector<leftover_processes> bury();
  bool is_burying() const { return !dying_.empty(); }

private:
  std::map<std::uint64_t, run_resources> granted_;
  std::vector<leftover_processes> dying_;
};

/// Executes an interpreter in `directory`: nothing of ours but `control`, which
/// becomes its descriptor 3, and standard error for what it says when it cannot
/// start. Dies with the warden. -1 with errno set.
int spawn_interpreter(const std::vector<std::string>& argv, int control,
                      const std::string& directory);

} // namespace troupe::warden
