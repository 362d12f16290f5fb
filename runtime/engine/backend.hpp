#pragma once

#include "runtime/base/error.hpp"
#include "runtime/model/run.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace troupe {

/// A directory of this machine that a local run sees. Decided by the engine
/// (an environment, a configured sandbox_dir), never by a request.
struct bind_mount {
  std::string host;   // absolute, resolved
  std::string inside; // absolute; may equal `host`
  bool writable = false;
};

/// A run with nothing left to look up: what a backend gets.
struct prepared_run {
  run_id id;
  organization_id organization;
  run_kind kind = run_kind::source; // never `tool`: its source is filled in
  language lang = language::python;
  std::string name; // of the tool, for messages
  std::string function;
  std::string source;
  std::vector<std::string> argv;
  std::string command;
  std::string stdin_text;

  std::string args_json = "{}";           // validated and coerced
  std::vector<std::string> dropped_nulls; // of them, by the schema's word
  bool lenient_arguments = false; // if they are bound again, then like that
  bool as_letta = false;
  bool may_be_script = false;
  std::string json_schema;
  std::string args_json_schema;
  std::uint32_t return_char_limit = default_return_char_limit;

  environment env; // complete, in its final form
  std::string agent_id;
  std::string agent_state_json;

  std::shared_ptr<const sandbox_config> config;  // shared by many; null: none
  std::vector<pip_requirement> pip_requirements; // tool's and config's, merged
  std::vector<npm_requirement> npm_requirements;
  // Local runs only, filled in by runtime/packages:
  std::vector<bind_mount> mounts; // shown inside beside the runtime
  std::string interpreter;        // path inside; "": the configured one
  std::string venv;        // which `interpreter` belongs to, if we have made it
  std::string working_dir; // path inside; "": the private /tmp
  troupe::limits limits;
  network_policy network;
  isolation_level isolation = isolation_level::standard;
  std::string traceparent;
  std::chrono::steady_clock::time_point deadline{};
  std::vector<run_file> files;
  std::vector<std::string> outputs;
  troupe::file_bounds file_bounds;
};

using prepared_run_ptr = std::shared_ptr<const prepared_run>;

/// Whether there is work beside the tool: files to put there, or to fetch.
bool has_files(const prepared_run& run);

/// The run's sandbox config, one that says nothing if there is none.
const sandbox_config& config_of(const prepared_run& run);

enum class output_stream : std::uint8_t { out, err };

/// How a run ended for its backend: a result, or a failure of the backend.
struct run_outcome {
  result<run_result> answer;
  /// With an error: the tool may already have begun, so no other backend may
  /// run it again unless the request is idempotent.
  bool may_have_started = false;
  /// With an error: only the place that this run had is gone. Its backend may
  /// be well.
  bool sandbox_lost = false;
  /// With an error: the packages that it asked for could not be had. That says
  /// nothing of those that ask for none.
  bool packages_unavailable = false;

  bool counts_against_backend() const {
    return !sandbox_lost && !packages_unavailable;
  }
};

/// Observer of one run. Called on any thread, one call at a
/// time, `finished` exactly once and last. Calls return quickly.
class run_observer {
public:
  virtual ~run_observer() = default;
  /// The tool is about to begin: from here on `may_have_started`.
  virtual void started() {}
  virtual void output(output_stream, std::string_view) {}
  /// Something slow is going on: "installing numpy".
  virtual void progress(std::string_view) {}
  virtual void finished(run_outcome) = 0;
};

using run_observer_ptr = std::shared_ptr<run_observer>;

/// One of the machines behind a backend, where it has several.
struct backend_node {
  std::string name; // host:port
  bool ready = false;
  std::string reason;  // "ready", or why it gets no run
  std::string circuit; // "closed", "open", "half_open"
  std::uint32_t running = 0;
  std::uint64_t runs = 0;     // answered
  std::uint64_t failures = 0; // refused or lost
};

/// Something that carries out runs: this machine, or a provider.
/// Thread-safe; no call blocks.
class backend {
public:
  virtual ~backend() = default;
  virtual backend_kind kind() const = 0;
  /// Which one it is: an engine may have several of a kind.
  virtual backend_name name() const { return kind(); }
  /// Takes the run on; everything that follows is told to the observer.
  virtual void start(prepared_run_ptr run, run_observer_ptr observer) = 0;
  /// Ends a run early with `reason` (cancelled or wall_timeout). Unknown ids
  /// are ignored: the run may just have ended.
  virtual void cancel(const run_id& id, exit_reason reason) = 0;
  /// What operators see: "ready", or what is missing and what to do.
  virtual result<void> ready() const = 0;
  virtual std::vector<backend_node> nodes() const { return {}; }
  /// Refuses new runs, ends the others, returns when nothing is left.
  virtual void stop() = 0;
};

} // namespace troupe
