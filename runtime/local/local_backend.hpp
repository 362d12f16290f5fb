#pragma once

#include "runtime/engine/backend.hpp"
#include "runtime/engine/schema_deriver.hpp"
#include "runtime/local/isolation/probe/probe.hpp"
#include "runtime/local/launch/launcher.hpp"
#include "runtime/local/launch/prestarted_launcher.hpp"
#include "runtime/local/options.hpp"
#include "runtime/local/warm/warm_launcher.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>

namespace troupe {

class cold_launcher;

/// The backend that runs tools on this machine. Executors call it through the
/// `backend` port; it queues runs, picks a launcher (warm, prestarted or cold)
/// for each, exchanges frames with the runner and reports the result. All of it
/// is asynchronous on the given executor; the warden process does what forks.
class local_backend final : public backend, public schema_deriver {
public:
  /// Starts the warden and sweeps what dead instances left behind. Call it
  /// before the process has many threads if you can; it works in any case.
  static result<std::shared_ptr<local_backend>>
  open(boost::asio::any_io_executor executor, local_options options);

  ~local_backend() override;

  backend_kind kind() const override { return backend_kind::local; }
  void start(prepared_run_ptr run, run_observer_ptr observer) override;
  void cancel(const run_id& id, exit_reason reason) override;
  /// Reads the source in an isolated process of its own, without a network.
  void derive(language lang, std::string source, std::string function,
              handler<derived_schema> done) override;
  result<void> ready() const override;
  void stop() override;

  /// What the host offers, layer by layer; for `troupe doctor`.
  isolation::probe_report probe() const;

  /// Waits until the first warden has probed the host, then is `ready()`. For
  /// commands and tests; never on a thread of the executor.
  result<void> wait_until_probed() const;

  /// What makes its processes, for sandboxes that live: on `strand`.
  std::shared_ptr<cold_launcher> wardens() const;

  /// Adds a launcher that is asked before the cold one. Call it before the
  /// first run.
  void add_carrier(std::unique_ptr<launcher> carrier);
  /// Where carriers live.
  boost::asio::any_io_executor strand() const;

  /// For tests and operators: the warden's process, -1 while there is none,
  /// and what this instance keeps on disk.
  int warden_pid() const;
  /// The warm slots as they are now.
  zygote::slot_counts slots(zygote::family of = zygote::family::python) const;
  zygote::slot_counts slots_of_venvs() const;
  /// The processes of Node that wait for a run.
  ready_counts ready_nodes() const;
  const std::string& instance_directory() const;

private:
  struct impl;
  template <class Ask>
  auto ask_launchers(Ask ask) const; // on their strand
  explicit local_backend(std::shared_ptr<impl> self);
  std::shared_ptr<impl> impl_;
};

} // namespace troupe
