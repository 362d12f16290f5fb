#pragma once

#include "net/http/response.hpp"
#include "runtime/base/error.hpp"
#include "runtime/engine/sandbox_error.hpp"

#include <string_view>

namespace troupe::net {

/// The only maps from our codes to HTTP's.
int status_of(ec code);
int status_of(const sandbox_error& why);
/// The `code` of a problem.
std::string_view code_of(const sandbox_error& why);

std::string_view reason_phrase(int status);

/// RFC 9457: `application/problem+json` with our code, whose page at
/// /problems/CODE (net/api/problem_pages.cpp) is the type of the problem, the
/// request's and the run's id, and an entry in `errors` per field.
response write_problem(int status, std::string_view code, const error& why,
                       std::string_view request_id, std::string_view run_id);

/// A Retry-After for errors that pass by themselves.
void add_retry_after(response& r, const error& why);

} // namespace troupe::net
