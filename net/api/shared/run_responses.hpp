#pragma once

#include "net/server/exchange.hpp"

#include <string>
#include <string_view>

namespace troupe::net {

inline constexpr std::string_view respond_async = "respond-async";

/// Where a run is that goes on by itself, and which preference made it so.
/// `asked` is the id that this request would have had.
response head_of(const run_record& record, const run_id& asked,
                 std::string preference);

/// 202: it goes on.
void answer_accepted(exchange& ex, const run_record& record,
                     const run_id& asked, std::string preference);

/// What the run has printed, as `record` and `said` have it.
void answer_output(exchange& ex, const run_record& record,
                   const run_result& said);
/// The same of a run that goes on: what there is by now.
void answer_output_so_far(engine& core, const exchange_ptr& ex,
                          const run_record& record);

void answer_result(exchange& ex, const run_result& result, bool replayed);

/// The failure of a run, which the answer names if there is one: what was
/// refused cannot be looked up.
void fail_run(engine& core, const exchange_ptr& ex, const error& why,
              const run_id& id);

/// Says where a run is that was asked for before, with the same key.
void mark_replayed_run(response& r, const run_id& first);

} // namespace troupe::net
