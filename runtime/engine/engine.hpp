#pragma once

#include "runtime/base/error.hpp"
#include "runtime/engine/backend.hpp"
#include "runtime/engine/catalog.hpp"
#include "runtime/model/run.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// Called exactly once, on any thread.
template <class T>
using handler = std::function<void(result<T>)>;

/// The caller: taken from the API key, never from a body.
struct caller {
  organization_id organization;
  user_id user;
  key_id key;              // empty: loopback without a key
  std::uint8_t scopes = 0; // of `scope`
  std::string request_id;
};

/// One thing that happens to a run. Numbered from 1 without holes, so that a
/// reader can go on where it stopped; the last one is `end`, exactly once.
enum class run_event_kind : std::uint8_t {
  accepted,
  queued,
  started,
  out,      // data: bytes of stdout
  err,      // data: bytes of stderr
  progress, // data: one line for people
  end,      // result or failure
};

struct run_event {
  std::uint64_t sequence = 0;
  run_event_kind kind = run_event_kind::accepted;
  std::string data;
  std::shared_ptr<const run_result> result; // kind end
  std::shared_ptr<const error> failure;     // kind end
};

/// Quick, thread-safe, called in order. Returning false ends the subscription.
using event_sink = std::function<bool(const run_event&)>;

enum class run_phase : std::uint8_t { queued, preparing, running, ended };

/// What is kept about a run. Only `request` has its source and its secrets.
struct run_record {
  run_id id;
  organization_id organization;
  run_phase phase = run_phase::queued;
  std::string tool_name;
  std::string agent_id;
  backend_name backend = backend_kind::local;
  timestamp created_at{};
  std::optional<timestamp> ended_at;
  std::shared_ptr<const run_result> result; // phase ended, when it was a result
  std::shared_ptr<const error> failure;     // phase ended, when it was not
  std::map<std::string, std::string> labels;
  /// As on links; for the store and for `find_request`. Null: not kept.
  std::shared_ptr<const secret> request;
};

template <class T>
struct page {
  std::vector<T> items;
  std::string next; // "": that was the last one
};

/// What a run would do, and why, without doing it. Values are masked.
struct explanation {
  std::vector<std::pair<std::string, std::string>> variables; // name, origin
  std::vector<backend_name> candidates;
  std::vector<std::string> reasons;
  troupe::limits limits;
  network_policy network;
  isolation_level isolation = isolation_level::standard;
  std::string fingerprint;
};

struct backend_health {
  backend_name name = backend_kind::local;
  bool configured = false;
  bool ready = false;
  std::string reason;
  std::string circuit; // "closed", "open", "half_open"
  std::uint32_t running = 0;
  std::uint32_t waiting = 0;
  std::uint32_t limit = 0;
  std::vector<backend_node> nodes; // of `peer`
};

struct engine_health {
  bool ready = false;
  std::vector<std::pair<std::string, std::string>> components; // name, state
  std::vector<backend_health> backends;
};

/// A JSON schema that was derived from a source.
struct derived_schema {
  std::string name;
  std::string description;
  json::object schema;
  /// Why its parameters could not be read, and so there is no schema; "": they
  /// were.
  std::string unclear{};
};

struct audit_entry {
  std::uint64_t sequence = 0;
  timestamp at{};
  std::string hash; // of this entry and the one before: the chain
  json::object what;
};

/// The whole engine, as every front door sees it: HTTP, MCP, the command line.
/// Thread-safe; no call blocks; every handler is called.
class engine {
public:
  virtual ~engine() = default;

  // -- runs ------------------------------------------------------------------
  /// Runs and answers. `events`, when given, sees everything up to `end`.
  virtual void submit(caller who, run_request request,
                      handler<std::shared_ptr<const run_result>> done,
                      event_sink events = {})
    = 0;
  /// Accepted means it will end, with or without readers.
  virtual void submit_detached(caller who, run_request request,
                               handler<run_record> accepted)
    = 0;
  virtual void cancel(caller who, run_id id, handler<run_record> done) = 0;
  virtual void find_run(caller who, run_id id, handler<run_record> done) = 0;
  virtual void list_runs(caller who, std::string after, std::size_t limit,
                         handler<page<run_record>> done)
    = 0;
  /// What was asked for, secrets included: to run it again, not to be told.
  /// `conflict`: it was too large to be kept.
  virtual void find_request(caller who, run_id id,
                            handler<std::shared_ptr<const run_request>> done)
    = 0;
  /// Events after `sequence`, then live ones, up to `end`. Of a run that goes
  /// on, what has happened so far is told before this returns.
  virtual void subscribe(caller who, run_id id, std::uint64_t sequence,
                         event_sink events, handler<void> accepted)
    = 0;
  virtual void explain(caller who, run_request request,
                       handler<explanation> done)
    = 0;

  // -- configuration ---------------------------------------------------------
  virtual catalog_ptr snapshot() const = 0;
  virtual void change(caller who, catalog_change what,
                      handler<change_reply> done)
    = 0;
  virtual void derive_schema(caller who, language lang, std::string source,
                             std::string function, handler<derived_schema> done)
    = 0;

  // -- operations ------------------------------------------------------------
  virtual void health(handler<engine_health> done) = 0;
  virtual void list_audit(caller who, std::uint64_t after, std::size_t limit,
                          handler<page<audit_entry>> done)
    = 0;
  /// Counters and gauges in Prometheus' text format, without secrets.
  virtual std::string metrics() const = 0;
};

} // namespace troupe
