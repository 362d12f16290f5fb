#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// Troupe from the outside: send execution messages, get typed answers. The
/// same interface for an engine in this process and for one far away. Needs
/// nothing but the standard library; see asio.hpp for completion tokens.
namespace troupe::api {

/// What a run may use; 0: as much as the engine usually grants.
struct run_limits {
  std::chrono::milliseconds wall{0};
  std::chrono::milliseconds cpu{0};
  std::uint64_t memory_bytes = 0;
  std::uint64_t processes = 0;
  std::uint64_t disk_bytes = 0;
  std::uint64_t output_bytes = 0;
  std::uint64_t result_bytes = 0;
};

/// What to run: a stored tool by id or name, a command, or a source.
struct message {
  std::string id;                  // "run-..."; "": a new one is made
  std::string tool;                // "tool-..." or a name; "": the others
  std::string command;             // a line for `sh -c`; "": the source
  std::string standard_input;      // of the command
  std::string source;              // a function ...
  std::string function;            // ... of this name; "": see below
  std::string language = "python"; // or "typescript", "javascript", "shell"
  /// A JSON object. With "" and without a function, a source that does
  /// something by itself runs once, as a program does; of one that only
  /// defines, the last function is called.
  std::string arguments;
  std::map<std::string, std::string> variables; // the tool's environment
  std::string organization;                     // "": the default one
  std::string agent_id;
  std::string agent_state;      // JSON, for a tool that takes it; "": none
  std::vector<std::string> pip; // packages: "requests>=2.31"
  std::vector<std::string> npm; // packages: "lodash@4"
  run_limits limits;            // never above the engine's ceiling
  std::string network;          // "off", "public" or "allow"; "": the engine's
  std::vector<std::string> network_allow; // for "allow": "pypi.org:443"
  std::string config;          // "sandbox-..."; "": the organization's default
  std::string isolation;       // never weaker than the engine permits
  std::string backend;         // "": the engine chooses
  std::string idempotency_key; // "": none
  bool idempotent = false;     // may be run again after a lost attempt
  std::int32_t priority = 0;
  std::chrono::milliseconds deadline{0}; // for all of it; 0: the default
  std::string traceparent;               // W3C; "": none
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> files; // into its directory, by name
  std::vector<std::string> outputs; // "*.png", "out/**": what comes back
};

/// A part of a run's life and how long it took: "queue", "run", ...
struct stage {
  std::string name;
  std::chrono::microseconds took{0};
};

/// A backend that was tried before the one that answered, and why it failed.
struct failover_attempt {
  std::string backend;
  std::string reason;
};

/// A file that a run left, and was asked for.
struct output_file {
  std::string name;
  std::string media_type;
  std::string content; // bytes
};

/// What came of a run. A tool that fails is an answer too.
struct answer {
  std::string id;
  bool succeeded = false;
  std::string reason; // "exited", "raised", "wall_timeout", "memory_limit", ...
  std::string detail; // one sentence on the reason
  std::string value;  // JSON
  std::string error;  // what the tool raised, "" on success
  std::string stdout_text;
  std::string stderr_text;
  std::string backend;
  std::chrono::microseconds wall{0};
  std::chrono::microseconds cpu{0};
  std::uint64_t peak_memory_bytes = 0;
  /// None after a signal, at a limit, or where the tool raised an error.
  std::optional<std::int32_t> exit_code;
  std::int32_t signal = 0;
  std::string value_encoding;   // "base64": it is bytes; else ""
  bool value_truncated = false; // over its limit: `value` is null
  bool stdout_truncated = false;
  bool stderr_truncated = false;
  std::string agent_state; // JSON, as the tool left it; "": it was not given
  std::string isolation;   // what was really enforced
  std::vector<stage> stages;
  std::vector<failover_attempt> failover;
  std::vector<std::string> notes; // for people
  std::vector<output_file> files;
};

/// The engine could not do its job.
struct failure {
  std::string code; // "invalid_request", "exhausted", "unavailable", ...
  std::string text;
  std::chrono::milliseconds retry_after{0};
  bool retryable = false;
};

using reply = std::variant<answer, failure>;
/// Called exactly once, on any thread. It returns quickly and does not throw.
using on_reply = std::function<void(reply)>;

/// Something that happens to a run while it lives.
struct event {
  std::uint64_t sequence = 0;
  std::string kind; // "queued", "started", "stdout", "stderr", "progress", ...
  std::string data; // bytes of an output, a line of progress
};
/// Called in order, one call at a time, before the reply; as quick as that.
using on_event = std::function<void(const event&)>;

/// What is known about a run now.
struct record {
  std::string id;
  std::string phase; // "queued", "preparing", "running" or "ended"
  std::string tool;
  std::string backend;
  std::optional<reply> end; // once it has ended
};
using on_record = std::function<void(std::variant<record, failure>)>;

/// A function that is kept, and run by its name: `message::tool`.
struct tool {
  std::string name; // "": that of the function
  std::string source;
  std::string language = "python"; // or "typescript", "javascript"
  std::string schema;              // JSON; "": derived from the source
  std::string description;         // "": from the source
  std::vector<std::string> tags;
  std::vector<std::string> pip; // packages: "requests>=2.31"
  std::vector<std::string> npm;
};

/// The id of what was stored or deleted.
using stored = std::variant<std::string, failure>;

class engine {
public:
  virtual ~engine() = default;

  /// Sends the message; returns the run's id, which `cancel` takes. It never
  /// waits: what finds no room is answered at once with the failure
  /// `exhausted`, whose `retry_after` says when to come back. Room is what may
  /// run (`dispatch.max-running`) and wait (`dispatch.max-queued`, and
  /// `dispatch.max-queued-per-organization`, 2048). To send more than that,
  /// keep a bounded number under way, such as 256, which is also fastest
  /// (examples/remote_client.cpp), or raise these settings.
  virtual std::string submit(message m, on_reply done) = 0;
  /// The same with what happens meanwhile. An engine far away tells of the
  /// output when the run has ended.
  virtual std::string submit(message m, on_reply done, on_event events) = 0;
  /// For a run that continues without the caller: `accepted` is called as soon
  /// as the engine cannot lose it without a trace.
  virtual std::string start(message m, on_record accepted) = 0;
  /// What is known about a run, also of one that was started elsewhere.
  virtual void find(std::string_view run, std::string_view organization,
                    on_record found)
    = 0;
  virtual void cancel(std::string_view run, std::string_view organization = {})
    = 0;
  /// Ends all runs and answers all messages. The destructor does it, too.
  virtual void stop() = 0;

  // -- what is stored ---------------------------------------------------------
  // Belongs to an organization ("": the default one) and is there after a
  // restart: it takes a `data_directory`. Only of an engine in this process;
  // one far away is configured over HTTP. Not to be waited for in a callback.

  /// Creates a tool, or replaces the one of that name.
  virtual std::future<stored> put_tool(tool what, std::string organization = {})
    = 0;
  virtual std::future<stored> delete_tool(std::string name,
                                          std::string organization = {})
    = 0;
  /// An environment variable of all runs at backends of this kind ("local",
  /// "e2b", ...). Its value is encrypted, and never read back.
  virtual std::future<stored> set_variable(std::string name, std::string value,
                                           std::string backend = "local",
                                           std::string organization = {})
    = 0;
  virtual std::future<stored> delete_variable(std::string name,
                                              std::string backend = "local",
                                              std::string organization = {})
    = 0;
  /// Replaces the sandbox config for backends of this kind: a JSON object, as
  /// over HTTP (`pip_requirements`, `limits`, `network`, ...).
  virtual std::future<stored> put_config(std::string backend,
                                         std::string config,
                                         std::string organization = {})
    = 0;

  std::future<reply> submit(message m) {
    auto promise = std::make_shared<std::promise<reply>>();
    auto future = promise->get_future();
    submit(std::move(m),
           [promise](reply r) { promise->set_value(std::move(r)); });
    return future;
  }
};

using opened = std::variant<std::unique_ptr<engine>, failure>;

struct embedded_options {
  std::string data_directory;     // "": nothing outlives the process
  std::size_t threads = 0;        // of the scheduler; 0: one per two cores
  std::uint16_t publish_port = 0; // for `connect`, on loopback; 0: none
  std::string listen;      // for `connect` with an identity, host:port; "": off
  std::string certificate; // of `listen`, PEM files
  std::string key;
  std::string ca; // signs the certificates that may connect
  std::chrono::milliseconds drain_timeout{30'000};
  /// If false, opening disables core dumps and debuggers for this process: both
  /// would see the secrets of every run.
  bool may_be_dumped = false;
  std::function<void(std::string_view)> report; // log lines

  /// The settings of `troupe serve`, by their names in config.ini:
  ///   {"e2b.api-key", key}, {"dispatch.max-running", "64"}
  /// They go before those of `settings_file`, and whatever is said by another
  /// member here goes before both. The environment is not read. What concerns
  /// HTTP and the log (http, compat, log) is refused here and ignored in a
  /// file.
  std::map<std::string, std::string> settings;
  std::string settings_file; // a config.ini; "": none

  /// Carries out runs in place of this machine's sandboxes: for programs that
  /// have their own, and for tests. Called on the engine's threads: it must
  /// return at once, and may answer later from any thread.
  using backend_fn
    = std::function<void(const message&, std::function<void(answer)>)>;
  backend_fn backend;
  /// Asks `backend` to end a run early, by the id of its message; it still
  /// answers. Without this function a cancelled run is not waited for.
  std::function<void(std::string_view run)> cancel_run;
};

/// The first line of every `main` that opens an engine without a `backend`:
/// this program is started once more as the warden of the sandboxes.
///
///   if (auto code = troupe::api::begin(argc, argv)) return *code;
std::optional<int> begin(int argc, char** argv);

/// Starts an engine in this process.
opened open_embedded(embedded_options options);

/// PEM files for mutual TLS with a remote engine.
struct identity {
  std::string certificate;
  std::string key;
  std::string ca; // signed both certificates
};

/// Connects over mutual TLS to the `cluster.listen` of `troupe serve`. `host`
/// stands in the certificate of the engine. Blocks until it has answered.
opened connect(const std::string& host, std::uint16_t port, const identity& us,
               std::chrono::milliseconds patience
               = std::chrono::milliseconds{5'000});

/// Connects without any proof to an `embedded_options::publish_port` of this
/// machine.
opened connect(const std::string& host, std::uint16_t port,
               std::chrono::milliseconds patience
               = std::chrono::milliseconds{5'000});

} // namespace troupe::api
