#pragma once

#include "runtime/async/task_queue.hpp"
#include "runtime/local/code_cache.hpp"
#include "runtime/local/deferred_reader.hpp"
#include "runtime/local/host_probe.hpp"
#include "runtime/local/launcher_set.hpp"
#include "runtime/local/local_backend.hpp"
#include "runtime/local/local_run.hpp"

#include <boost/asio/strand.hpp>

#include <atomic>
#include <deque>
#include <future>
#include <unordered_map>

namespace troupe {

namespace asio = boost::asio;

using local_run_ptr = std::shared_ptr<local_run>;

/// Opening and closing are in local_backend.cpp, the queue and what becomes of
/// a run in local_queue.cpp. Everything runs on `strand`, except what says
/// otherwise.
struct local_backend::impl : std::enable_shared_from_this<impl> {
  impl(asio::any_io_executor executor, local_options opts,
       warden::instance made)
      : strand{asio::make_strand(std::move(executor))}, options{std::move(
                                                          opts)},
        instance{std::move(made)}, tasks{std::make_shared<task_queue>(strand)},
        listener{std::make_shared<deferred_reader>(strand)},
        launchers{std::make_shared<launcher_set>(strand, options, instance)} {}

  result<void> open();
  void accept(local_run_ptr run);
  void pump();
  void begin(const local_run_ptr& run);
  void compile(const prepared_run& like, std::string key);
  void forget(const run_id& id);
  void cancel(const run_id& id, exit_reason why);
  void stop(std::shared_ptr<std::promise<void>> done);
  void close_if_idle();
  result<void> admit(const prepared_run& run) const;
  bool can_mount(const prepared_run& run) const;
  script::program_paths paths_for(const prepared_run& run) const;
  std::vector<warden::start_order::mount_source>
  mounts_for(const prepared_run& run) const;

  asio::any_io_executor strand;
  local_options options;
  warden::instance instance;
  std::shared_ptr<task_queue> tasks; // from other threads
  std::shared_ptr<deferred_reader> listener;
  std::shared_ptr<launcher_set> launchers;
  host_probe probe;
  interpreters found;
  code_cache codes;
  std::deque<local_run_ptr> waiting;
  std::unordered_map<run_id, local_run_ptr> running;
  bool stopping = false;
  bool closing = false;
  std::vector<std::shared_ptr<std::promise<void>>> stop_waiters;
  std::atomic<bool> stopped{false};
};

/// Where the runner programs lie on the host.
std::string runner_directory(const warden::instance& instance);
error stopping_error();

} // namespace troupe
