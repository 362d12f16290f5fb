#pragma once

#include "actors/state/active_run.hpp"
#include "runtime/engine/backend.hpp"
#include "runtime/engine/catalog.hpp"

namespace troupe {

/// The audit entry of a run: caller, tool, backend, limits, and how it
/// came out. No argument, no value, no output, no source: hashes and counts.
/// The text of a JSON object, made without the object: every run has one.
std::string audit_of_run(const active_run& run, const prepared_run* prepared);

/// The audit line of a change. Secret values never enter it.
std::string audit_of_change(const caller& who, const catalog_change& what,
                            const error* failure);

/// The word for a change: "put_tool", "delete_config", ...
std::string_view name_of(const catalog_change& what);

} // namespace troupe
