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

/// Troupe from the outside: send execution messages, get typed answers. The
/// same interface for an engine in this process and for one far away. Needs
/// nothing but the standard library; see asio.hpp for completion tokens.
namespace troupe::api {

/// What to run: a stored tool by id or name, or a source.
struct message {
  std::string tool;                // "tool-..." or a name; "": the source
  std::string source;              // a function ...
  std::string function;            // ... of this name; "": the last one
  std::string language = "python"; // or "typescript", "javascript", "shell"
  std::string arguments = "{}";    // a JSON object
  std::map<std::string, std::string> variables; // the tool's environment
  std::string organization;                     // "": the default one
  std::string agent_id;
  std::string backend;         // "": the engine chooses
  std::string idempotency_key; // "": none
  bool idempotent = false;     // may be run again after a lost attempt
  std::int32_t priority = 0;
  std::chrono::milliseconds deadline{0}; // for all of it; 0: the default
};

/// What came of a run. A tool that fails is an answer too.
struct answer {
  std::string id;
  bool succeeded = false;
  std::string reason; // "exited", "wall_timeout", "memory_limit", ...
  std::string detail; // one sentence on the reason
  std::string value;  // JSON
  std::string error;  // what the tool raised, "" on success
  std::string output; // stdout
  std::string errors; // stderr
  std::string backend;
  std::chrono::microseconds wall{0};
  std::chrono::microseconds cpu{0};
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

class engine {
public:
  virtual ~engine() = default;

  /// Sends the message; returns the run's id, which `cancel` takes.
  virtual std::string submit(message m, on_reply done) = 0;
  virtual void cancel(std::string_view run, std::string_view organization = {})
    = 0;
  /// Ends what runs and answers everybody. The destructor does it too.
  virtual void stop() = 0;

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
  std::size_t threads = 0;        // of the scheduler; 0: one per core
  std::uint16_t publish_port = 0; // for `connect`, on loopback; 0: none
  std::string listen; // for `connect` with an identity, host:port; "": nowhere
  std::string certificate; // of `listen`, PEM files: what proves who we are
  std::string key;
  std::string authority; // who may connect: whoever it signed
  std::chrono::milliseconds drain_timeout{30'000};
  /// Else opening switches core dumps and debuggers off for this process: both
  /// would see the secrets of every run.
  bool may_be_dumped = false;
  std::function<void(std::string_view)> report; // lines for operators

  /// Carries out runs in place of this machine's sandboxes: for hosts that
  /// have their own, and for tests. Called on the engine's threads: it must
  /// return at once, and may answer later from any thread.
  using carrier_fn
    = std::function<void(const message&, std::function<void(answer)>)>;
  carrier_fn carrier;
};

/// The first line of every `main` that opens an engine without a carrier: this
/// program is started once more as the warden of the sandboxes.
///
///   if (auto code = troupe::api::begin(argc, argv)) return *code;
std::optional<int> begin(int argc, char** argv);

/// Starts an engine in this process.
opened open_embedded(embedded_options options);

/// PEM files that prove who we are to an engine elsewhere, and it to us.
struct identity {
  std::string certificate;
  std::string key;
  std::string authority; // the one that signed both sides
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
