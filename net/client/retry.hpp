#pragma once

#include <boost/beast/http/fields.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace troupe::net {

/// How often and how fast something that is safe to repeat is repeated.
struct retry_policy {
  int tries = 4; // all together
  std::chrono::milliseconds first_delay{500};
  std::chrono::milliseconds max_delay{8'000};
};

/// How long to wait before try `next` (2, 3, ...), or nothing: give up. Full
/// jitter: `random` in [0, 1) picks from the whole interval, so that many
/// clients do not come back together. A Retry-After replaces the computed
/// delay. Nothing that would end after the deadline is begun.
std::optional<std::chrono::milliseconds>
retry_delay(const retry_policy& policy, int next, double random,
            std::optional<std::chrono::milliseconds> retry_after,
            std::chrono::milliseconds until_deadline);

/// Seconds or an HTTP date; nothing for garbage, negative and absurd values.
std::optional<std::chrono::milliseconds>
parse_retry_after(std::string_view text,
                  std::chrono::system_clock::time_point now);

/// Of an answer's header. Also under names that go on after Retry-After, as
/// Daytona has one per limiter.
std::optional<std::chrono::milliseconds>
retry_after_of(const boost::beast::http::fields& headers,
               std::chrono::system_clock::time_point now);

/// Statuses after which the same request may work: 429 and the 5xx that mean
/// "not now".
bool is_retryable_status(unsigned status);
/// Of those, the ones that say for certain that nothing was begun.
bool is_refusal_status(unsigned status);

} // namespace troupe::net
