#pragma once

#include "runtime/async/task_queue.hpp"
#include "runtime/local/code_cache.hpp"
#include "runtime/local/deferred_reader.hpp"
#include "runtime/local/interpreters.hpp"
#include "runtime/local/launch/cold_launcher.hpp"
#include "runtime/local/launch/prestarted_launcher.hpp"
#include "runtime/local/local_backend.hpp"
#include "runtime/local/local_run.hpp"

#include <boost/asio/strand.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <unordered_map>

namespace troupe {

namespace asio = boost::asio;

using local_run_ptr = std::shared_ptr<local_run>;

/// The part of them that is a warden's.
inline warden_options for_warden(const local_options& all) {
  return {all.state_dir,      all.first_uid,      all.uid_count, all.kill_grace,
          all.warden_answers, all.pretend_absent, all.network};
}

/// Opening and closing are in local_backend.cpp, the queue and what becomes of
/// a run in local_queue.cpp. Everything runs on `strand`, except what says
/// otherwise.
struct local_backend::impl : std::enable_shared_from_this<impl> {
  impl(asio::any_io_executor executor, local_options opts,
       warden::instance made)
      : strand{asio::make_strand(std::move(executor))}, options{std::move(
                                                          opts)},
        instance{std::move(made)}, letters{std::make_shared<letterbox>(strand)},
        listener{std::make_shared<deferred_reader>(strand)},
        cold{std::make_shared<cold_launcher>(strand, for_warden(options),
                                             instance)} {}

  result<void> open();
  void warm_up();
  void add_ready_node();
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
  std::shared_ptr<letterbox> letters; // from other threads
  std::shared_ptr<deferred_reader> listener;
  std::shared_ptr<cold_launcher> cold;
  std::vector<std::unique_ptr<launcher>> carriers; // before the cold one
  zygote::warm_launcher* slots = nullptr;          // of them: Python's
  zygote::warm_launcher* venv_slots = nullptr;     // for runs with packages
  zygote::warm_launcher* node_slots = nullptr;     // Node's
  prestarted_launcher* ready_node = nullptr;       // where that cannot be
  interpreters found;
  code_cache codes;
  std::deque<local_run_ptr> waiting;
  std::unordered_map<run_id, local_run_ptr> running;
  bool stopping = false;
  bool closing = false;
  std::vector<std::shared_ptr<std::promise<void>>> stop_waiters;
  std::atomic<bool> stopped{false};

  mutable std::mutex probe_mutex; // what any thread may ask for
  mutable std::condition_variable probe_done;
  bool has_probed = false;
  isolation::probe_report probed;
  std::string trouble = "the warden is starting";
};

/// Where the runner programs lie on the host.
std::string runner_directory(const warden::instance& instance);
error stopping_error();

} // namespace troupe
