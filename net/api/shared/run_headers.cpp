#include "net/api/shared/run_headers.hpp"

#include "net/api/shared/idempotent_requests.hpp"
#include "net/api/shared/run_responses.hpp"
#include "runtime/base/trace_context.hpp"

#include <algorithm>
#include <charconv>

namespace troupe::net {

bool read_run_fields(exchange& ex, run_request& run) {
  auto key = idempotency_key_of(ex);
  if (!key)
    return false;
  if (!key->empty())
    run.idempotency_key = std::move(*key);
  // A malformed one is no one: the trace begins anew, as W3C wants it.
  auto parent = ex.in().field("traceparent");
  if (run.traceparent.empty() && parse_traceparent(parent))
    run.traceparent = std::string{parent};
  return true;
}

preference read_preference(const request& in) {
  preference out;
  for (const auto& [name, value] : in.fields) {
    if (!equal_ignoring_case(name, "prefer"))
      continue;
    out.respond_async |= has_token(value, respond_async);
    auto at = value.find("wait=");
    if (at == std::string_view::npos)
      continue;
    long seconds = 0;
    auto digits = value.substr(at + 5);
    if (std::from_chars(digits.data(), digits.data() + digits.size(), seconds)
          .ec
        == std::errc{})
      out.wait = std::chrono::seconds{std::clamp(seconds, 0l, 86'400l)};
  }
  return out;
}

} // namespace troupe::net
