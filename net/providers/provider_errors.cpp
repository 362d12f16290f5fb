#include "net/providers/provider_errors.hpp"

#include "runtime/json/json.hpp"
#include "runtime/json/printable.hpp"

namespace troupe::net {

namespace {

ec code_of(unsigned status) {
  switch (status) {
  case 401:
  case 403:
    return ec::denied;
  case 404:
  case 410:
    return ec::not_found;
  case 409:
    return ec::conflict;
  case 408:
    return ec::timeout;
  case 429:
    return ec::exhausted;
  default:
    // 5xx, redirects, what we do not know; and 400 and 422: what was wrong with
    // a request of ours is not its caller's fault.
    return ec::unavailable;
  }
}

} // namespace

bool may_have_acted(const client_exchange& done) {
  if (!done.answer)
    return done.may_have_acted;
  auto status = done.answer->status;
  // 408 may be about what was asked for, and not about our asking.
  auto refused = status >= 400 && status < 500 && status != 408;
  return !refused && !is_refusal_status(status);
}

std::string reply_message(std::string_view body) {
  auto parsed = json::parse(body.substr(0, 64u << 10));
  if (!parsed || !parsed->is_object())
    return {};
  for (auto name : {"message", "detail", "error", "msg"})
    if (auto* text = parsed->as_object().if_contains(name))
      if (text->is_string())
        return printable(text->as_string());
  return {};
}

error refused(std::string_view service, std::string_view doing,
              const client_response& reply, std::string_view key_setting) {
  error e;
  e.code = code_of(reply.status);
  e.text = std::string{service} + " did not " + std::string{doing} + " ("
    + std::to_string(reply.status);
  if (auto why = reply_message(reply.body); !why.empty())
    e.text += ": " + why;
  e.text += ")";
  if (reply.status == 401 || reply.status == 403)
    e.text += "; check " + std::string{key_setting};
  if (reply.status == 429)
    e.retry_after
      = retry_after_of(reply.headers, std::chrono::system_clock::now())
          .value_or(std::chrono::milliseconds{0});
  return e;
}

} // namespace troupe::net
