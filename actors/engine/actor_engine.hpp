#pragma once

#include "actors/caf/request.hpp"
#include "actors/config/schema_cache.hpp"
#include "actors/context/engine_context.hpp"
#include "runtime/engine/engine.hpp"

namespace troupe {

/// The `engine` interface on top of the actors, for HTTP, commands and the
/// embedded C++ interface, which know no CAF. A call becomes a message to the
/// actor in charge (a dispatcher for runs, the config actor for changes, the
/// ledger for lists), and the reply completes through the request router.
/// Thread-safe and non-blocking; the engine host creates and closes it.
class actor_engine final : public engine {
public:
  actor_engine(context_ptr context, supervisor_actor supervisor);
  ~actor_engine() override;

  void submit(caller who, run_request request,
              handler<std::shared_ptr<const run_result>> done,
              event_sink events) override;
  void submit_detached(caller who, run_request request,
                       handler<run_record> accepted) override;
  void cancel(caller who, run_id id, handler<run_record> done) override;
  void find_run(caller who, run_id id, handler<run_record> done) override;
  void find_request(caller who, run_id id,
                    handler<std::shared_ptr<const run_request>> done) override;
  void list_runs(caller who, std::string after, std::size_t limit,
                 handler<page<run_record>> done) override;
  void subscribe(caller who, run_id id, std::uint64_t sequence,
                 event_sink events, handler<void> accepted) override;
  void explain(caller who, run_request request,
               handler<explanation> done) override;
  catalog_ptr snapshot() const override;
  void change(caller who, catalog_change what,
              handler<change_reply> done) override;
  void derive_schema(caller who, language lang, std::string source,
                     std::string function,
                     handler<derived_schema> done) override;
  void health(handler<engine_health> done) override;
  void list_audit(caller who, std::uint64_t after, std::size_t limit,
                  handler<page<audit_entry>> done) override;
  std::string metrics() const override;

  /// No more letters: the supervisor is about to go.
  void close();

private:
  const context_ptr context_;
  troupe::snapshot<supervisor_actor> supervisor_;
  const std::shared_ptr<schema_cache> schemas_;
};

} // namespace troupe
