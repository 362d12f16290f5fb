#pragma once

#include "bench/bench.hpp"
#include "tests/support/engine/fake_engine.hpp"

namespace troupe::bench {

/// Ends every run at once, with the same result: what is left is HTTP, JSON
/// and admission.
class instant_engine final : public test::fake_engine {
public:
  instant_engine() {
    run_result r;
    r.id = run_id::make();
    r.status = run_status::success;
    r.reason = exit_reason::exited;
    r.value_json = "42";
    done_ = std::make_shared<const run_result>(std::move(r));
  }
  void submit(caller, run_request, handler<std::shared_ptr<const run_result>> h,
              event_sink) override {
    h(done_);
  }

private:
  std::shared_ptr<const run_result> done_;
};

/// Ten thousand idle connections, and five hundred slow ones.
void measure_connections(report& out);
/// Real Python, over HTTP and without, beside asyncio doing it the naive way.
void measure_served_runs(report& out);

} // namespace troupe::bench
