#pragma once

#include "runtime/local/launch/launcher.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace troupe {

/// What operators, tests and benchmarks may want to see.
struct ready_counts {
  std::size_t waiting = 0;  // processes that wait for a run
  std::size_t coming = 0;   // and those that are being started
  std::size_t running = 0;  // with a run
  std::uint64_t runs = 0;   // carried since the start
  std::uint64_t deaths = 0; // of processes that no run had come for
};

/// Carries TypeScript and JavaScript where Node cannot be forked: in processes
/// that another carrier has started before their run comes, each for one run.
///
/// Such a process is a cold start in everything but the moment: what a cold run
/// of ours gets by argv and environment is the same for all of them, and its
/// source, arguments and variables come over the channel. Until then it waits
/// in isolation of its own, under the limits and the policy of the run that it
/// is meant for, and belongs to nobody. Runs of another shape start cold.
class prestarted_launcher final : public launcher {
public:
  struct options {
    std::uint32_t count = 0; // that wait or are being started, at most
    std::chrono::milliseconds idle{60'000}; // without a run, and all end
  };

  /// `starter` is told to start them. Only while `wanted` says so: a warm Node
  /// is faster.
  prestarted_launcher(boost::asio::any_io_executor strand, options most,
                      std::shared_ptr<launcher> starter,
                      std::function<bool()> wanted);
  ~prestarted_launcher() override;

  bool accepts(const launch& what) const override;
  std::optional<parent_fds> take_prepared_channels(const launch& what) override;
  void start(launch what, carrier_events events) override;
  void kill(const run_id& id) override;
  void stop() override;

  ready_counts counts() const;

  class impl;

private:
  std::shared_ptr<impl> impl_;
};

} // namespace troupe
