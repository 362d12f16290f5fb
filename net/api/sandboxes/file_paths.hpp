#pragma once

#include "net/api/shared/request_body.hpp"
#include "runtime/engine/sandbox_files.hpp"

#include <optional>
#include <string>

namespace troupe::net {

/// The `path` of a query, an absolute one of the sandbox. Nothing, and a
/// complaint: it is missing, or no such path.
std::optional<std::string> path_in_query(query_reader& query);

/// The one range of bytes that is asked for. Nothing: none, or in a form that
/// need not be answered; then all of it is meant.
std::optional<byte_range> wanted_range(const request& in);

} // namespace troupe::net
