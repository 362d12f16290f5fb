#pragma once

#include "net/telemetry/span.hpp"
#include "runtime/engine/engine.hpp"

#include <functional>
#include <memory>

namespace troupe::net {

/// An engine whose runs leave spans: `execute_tool {name}` with the stages
/// below it. A run continues the trace of its caller, and the tool
/// finds its own place in it as TRACEPARENT.
class traced_engine final : public engine {
public:
  using sink = std::function<void(span)>;

  /// `core` outlives it. `share`: of the traces that begin here.
  traced_engine(engine& core, double share, sink spans)
      : core_{core}, share_{share}, spans_{std::make_shared<const sink>(
                                      std::move(spans))} {}

  void submit(caller who, run_request request,
              handler<std::shared_ptr<const run_result>> done,
              event_sink events) override;
  void submit_detached(caller who, run_request request,
                       handler<run_record> accepted) override;

  // -- everything else passes through ----------------------------------------
  void cancel(caller who, run_id id, handler<run_record> done) override {
    core_.cancel(std::move(who), std::move(id), std::move(done));
  }
  void find_run(caller who, run_id id, handler<run_record> done) override {
    core_.find_run(std::move(who), std::move(id), std::move(done));
  }
  void list_runs(caller who, std::string after, std::size_t limit,
                 handler<page<run_record>> done) override {
    core_.list_runs(std::move(who), std::move(after), limit, std::move(done));
  }
  void find_request(caller who, run_id id,
                    handler<std::shared_ptr<const run_request>> done) override {
    core_.find_request(std::move(who), std::move(id), std::move(done));
  }
  void subscribe(caller who, run_id id, std::uint64_t sequence,
                 event_sink events, handler<void> accepted) override {
    core_.subscribe(std::move(who), std::move(id), sequence, std::move(events),
                    std::move(accepted));
  }
  void explain(caller who, run_request request,
               handler<explanation> done) override {
    core_.explain(std::move(who), std::move(request), std::move(done));
  }
  catalog_ptr snapshot() const override { return core_.snapshot(); }
  void change(caller who, catalog_change what,
              handler<change_reply> done) override {
    core_.change(std::move(who), std::move(what), std::move(done));
  }
  void derive_schema(caller who, language lang, std::string source,
                     std::string function,
                     handler<derived_schema> done) override {
    core_.derive_schema(std::move(who), lang, std::move(source),
                        std::move(function), std::move(done));
  }
  void health(handler<engine_health> done) override {
    core_.health(std::move(done));
  }
  void list_audit(caller who, std::uint64_t after, std::size_t limit,
                  handler<page<audit_entry>> done) override {
    core_.list_audit(std::move(who), after, limit, std::move(done));
  }
  std::string metrics() const override { return core_.metrics(); }

private:
  struct open_span;

  std::shared_ptr<open_span> begin(const caller& who,
                                   run_request& request) const;
  std::string name_of(const caller& who, const run_request& request) const;

  engine& core_;
  const double share_;
  const std::shared_ptr<const sink> spans_;
};

} // namespace troupe::net
