#pragma once

#include <boost/system/result.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// What went wrong, by what the caller can do about it.
enum class ec : std::uint8_t {
  invalid_request = 1, // change the request
  not_found,           // there is no such thing, or it is not yours
  conflict,            // it was changed in the meantime: read again
  denied,              // ask for permission
  unavailable,         // try again later, or elsewhere
  timeout,             // it may have happened: look before trying again
  exhausted,           // slow down: see retry_after
  internal,            // our fault: report it
  no_space,            // the disk is full: an operator must free space
};

std::string_view to_string(ec code);

/// One thing that is wrong with one field of a request.
struct field_error {
  std::string pointer; // RFC 6901, "" is the whole document
  std::string reason;  // what is wrong
  std::string hint;    // the way out, may be empty
};

/// A failure of the engine, never of a tool: that one is a `run_result`.
struct error {
  ec code = ec::internal;
  std::string text;                         // reason and way out, for people
  std::vector<field_error> fields;          // for a bad request: every field
  std::chrono::milliseconds retry_after{0}; // 0: unknown

  /// The same error, told from further away: "open store: lock held".
  error within(std::string_view what) &&;
  error within(std::string_view what) const&;
};

/// A failure with nothing but its code and its sentence.
error fail(ec code, std::string text);

/// An `invalid_request` about the whole of it.
error bad_request(std::string reason);

/// An `invalid_request` about one field.
error bad_field(std::string pointer, std::string reason, std::string hint = {});

/// Whether the same request may succeed later without being changed.
bool retryable(const error& e);

/// One line with code, text and fields; holds no secret by construction.
std::string to_string(const error& e);

template <class T = void>
using result = boost::system::result<T, error>;

/// Called by `result::value()` on an error. Code that can get one checks first.
[[noreturn]] void throw_exception_from_error(const error& e,
                                             const boost::source_location&);

} // namespace troupe
