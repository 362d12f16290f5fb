#include "net/providers/status.hpp"

#include "runtime/json/json.hpp"

namespace troupe::net {

namespace {

constexpr std::size_t max_message_bytes = 200;

std::string printable(std::string_view text) {
  std::string out;
  for (char c : json::repair_utf8(text.substr(0, max_message_bytes)))
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return out;
}

ec code_of(unsigned status) {
  switch (status) {
  case 400:
  case 422:
    return ec::invalid_request;
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
    return ec::unavailable; // 5xx, redirects and what we do not know
  }
}

} // namespace

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
  if (reply.status == 429) {
    auto asked = reply.headers.find(boost::beast::http::field::retry_after);
    if (asked != reply.headers.end())
      e.retry_after
        = parse_retry_after({asked->value().data(), asked->value().size()},
                            std::chrono::system_clock::now())
            .value_or(std::chrono::milliseconds{0});
  }
  return e;
}

} // namespace troupe::net
