#pragma once

#include "runtime/local/launch/launcher.hpp"
#include "runtime/local/warm/interpreter_command.hpp"
#include "runtime/local/warm/options.hpp"
#include "runtime/local/warm/slot_counts.hpp"
#include "runtime/local/warm/slot_sandbox.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <string>

namespace troupe::zygote {

/// The fast path of the local backend: launches runs as forks of a warm
/// interpreter. Decides which slot takes which run, and takes only runs that a
/// cold start would carry out the same way.
class warm_launcher final : public launcher {
public:
  using paths = interpreter_paths;

  /// A run that no slot could be made for, the interpreter having died say, is
  /// begun by `otherwise`; without one it fails.
  warm_launcher(boost::asio::any_io_executor strand, zygote_options options,
                paths where, std::shared_ptr<slot_provisioner> makers,
                std::weak_ptr<launcher> otherwise = {});
  ~warm_launcher() override;

  bool accepts(const launch& what) const override;
  bool is_forked() const override { return true; }
  void start(launch what, carrier_events events) override;
  void kill(const run_id& id) override;
  void stop() override;

  slot_counts counts() const;
  /// There is no interpreter, and not because the first has yet to start.
  bool has_failed() const;

private:
  class impl;
  std::shared_ptr<impl> impl_;
};

/// Writes the modules and their boot scripts below `directory`; fills in both
/// paths of the family.
result<void> install(const std::string& directory, warm_launcher::paths& where);

} // namespace troupe::zygote
