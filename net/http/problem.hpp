#pragma once

#include "net/http/response.hpp"
#include "runtime/base/error.hpp"

#include <string_view>

namespace troupe::net {

/// The only map from our codes to HTTP's.
int status_of(ec code);

std::string_view reason_phrase(int status);

/// RFC 9457: `application/problem+json` with our code, the request's and the
/// run's id, and an entry in `errors` per field.
response write_problem(int status, std::string_view code, const error& why,
                       std::string_view request_id, std::string_view run_id);

/// A Retry-After for errors that pass by themselves.
void add_retry_after(response& r, const error& why);

} // namespace troupe::net
