#pragma once

#include "runtime/local/launch/launcher.hpp"
#include "runtime/local/warm/options.hpp"
#include "runtime/local/warm/slot_sandbox.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <string>

namespace troupe::zygote {

/// What operators and benchmarks may want to see.
struct slot_counts {
  std::size_t zygotes = 0;
  std::size_t slots = 0;
  std::size_t idle = 0;
  std::size_t armed = 0;
  std::size_t running = 0;
  std::uint64_t runs = 0;        // carried since the start
  std::uint64_t armed_runs = 0;  // of them, by a child that was waiting
  std::uint64_t early_words = 0; // of them, answered before they were gone
  std::uint64_t replaced = 0;    // slots that were not clean, or were lost
  std::uint64_t restarts = 0;    // of interpreters
  std::int32_t zygote_pid = 0;
  std::uint64_t huge_pages = 0;
  std::uint64_t hot_blocks = 0;  // put side by side
  std::uint64_t ready_pages = 0; // written to before a run needs them
  std::string trouble;           // why no interpreter is ready, "": one is
};

/// Which interpreter a zygote is.
enum class family : std::uint8_t { python, node };

/// The fast path of the local backend: launches runs as forks of a warm
/// interpreter. The local backend asks it before the cold launcher and hands it
/// a `launch`; it asks the warden for slots (slot_provisioner) and talks to the
/// zygote and to the slots over sockets. It holds the policy: which slot gets
/// which run, and when slots are created, replaced and released. It accepts
/// only runs whose result would be the same after a cold start.
class slot_carrier final : public launcher {
public:
  struct paths {
    zygote::family family = family::python;
    std::string interpreter; // of the host, the one that cold runs use
    bool for_venvs = false;  // of runs that have one; Python only
    std::string home;        // where the interpreter begins, if that is known
    std::string module;      // where `install` put it
    std::string boot;
    std::string runners;        // of the host: what runtime/runner installed
    std::string runners_inside; // where a run sees that
    std::string profiles;       // for what is learned, from start to start
    std::string profile;        // of it: ours; the carrier fills it in
  };

  /// A run that no slot could be made for, the interpreter having died say, is
  /// begun by `otherwise`; without one it fails.
  slot_carrier(boost::asio::any_io_executor strand, zygote_options options,
               paths where, std::shared_ptr<grounds> makers,
               std::weak_ptr<launcher> otherwise = {});
  ~slot_carrier() override;

  bool takes(const launch& what) const override;
  bool forks() const override { return true; }
  void start(launch what, carrier_events events) override;
  void kill(const run_id& id) override;
  void stop() override;

  slot_counts counts() const;
  /// There is no interpreter, and not because the first has yet to start.
  bool has_failed() const;

  class impl;

private:
  std::shared_ptr<impl> impl_;
};

/// Writes the modules and their boot scripts below `directory`; fills in both
/// paths of the family.
result<void> install(const std::string& directory, slot_carrier::paths& where);

} // namespace troupe::zygote
