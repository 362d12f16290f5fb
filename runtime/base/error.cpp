#include "runtime/base/error.hpp"

#include <stdexcept>

namespace troupe {

std::string_view to_string(ec code) {
  switch (code) {
  case ec::invalid_request:
    return "invalid_request";
  case ec::not_found:
    return "not_found";
  case ec::conflict:
    return "conflict";
  case ec::denied:
    return "denied";
  case ec::unavailable:
    return "unavailable";
  case ec::timeout:
    return "timeout";
  case ec::exhausted:
    return "exhausted";
  case ec::internal:
    return "internal";
  case ec::no_space:
    return "no_space";
  }
  return "internal";
}

error error::within(std::string_view what) && {
  text = std::string{what} + ": " + text;
  return std::move(*this);
}

error error::within(std::string_view what) const& {
  return error{*this}.within(what);
}

error fail(ec code, std::string text) {
  return {code, std::move(text), {}, {}};
}

error bad_request(std::string reason) {
  error e;
  e.code = ec::invalid_request;
  e.text = std::move(reason);
  return e;
}

error bad_field(std::string pointer, std::string reason, std::string hint) {
  error e;
  e.code = ec::invalid_request;
  e.text = pointer.empty() ? "request" : pointer;
  e.text += ": ";
  e.text += reason;
  if (!hint.empty())
    e.text += "; " + hint;
  e.fields.push_back({std::move(pointer), std::move(reason), std::move(hint)});
  return e;
}

bool retryable(const error& e) {
  switch (e.code) {
  case ec::unavailable:
  case ec::exhausted:
  case ec::no_space:
    return true;
  case ec::invalid_request:
  case ec::not_found:
  case ec::conflict:
  case ec::denied:
  case ec::timeout: // it may have happened
  case ec::internal:
    return false;
  }
  return false;
}

std::string to_string(const error& e) {
  return std::string{to_string(e.code)} + ": " + e.text;
}

void throw_exception_from_error(const error& e, const boost::source_location&) {
  throw std::runtime_error(to_string(e));
}

} // namespace troupe
