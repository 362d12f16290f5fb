#pragma once

#include "net/server/exchange.hpp"
#include "runtime/model/run.hpp"

#include <chrono>
#include <optional>

namespace troupe::net {

/// Copies what a run takes from the request's fields: Idempotency-Key and
/// traceparent. Answers the exchange itself when one is malformed.
bool read_run_fields(exchange& ex, run_request& run);

/// RFC 7240, as far as runs are concerned.
struct preference {
  bool respond_async = false;
  std::optional<std::chrono::seconds> wait;
};
preference read_preference(const request& in);

} // namespace troupe::net
