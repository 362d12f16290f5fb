#include "net/client/retry.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <string>

namespace troupe::net {

namespace {

// A server that asks for more is as good as down.
constexpr std::chrono::hours max_retry_after{24};

} // namespace

std::optional<std::chrono::milliseconds>
retry_delay(const retry_policy& policy, int next, double random,
            std::optional<std::chrono::milliseconds> retry_after,
            std::chrono::milliseconds until_deadline) {
  if (next > policy.tries)
    return {};
  auto delay = policy.max_delay;
  if (auto doublings = next - 2; doublings < 20)
    delay = std::min(delay, policy.first_delay * (1 << std::max(doublings, 0)));
  auto wait = retry_after.value_or(std::chrono::milliseconds{
    static_cast<std::int64_t>(random * static_cast<double>(delay.count()))});
  if (wait >= until_deadline)
    return {};
  return wait;
}

std::optional<std::chrono::milliseconds>
parse_retry_after(std::string_view text,
                  std::chrono::system_clock::time_point now) {
  std::int64_t seconds = 0;
  auto [end, why]
    = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (why == std::errc{} && end == text.data() + text.size()) {
    if (seconds < 0 || std::chrono::seconds{seconds} > max_retry_after)
      return {};
    return std::chrono::seconds{seconds};
  }
  std::tm parts{};
  std::string date{text.substr(0, 64)};
  auto* rest = ::strptime(date.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (!rest || *rest != '\0')
    return {};
  auto when = std::chrono::system_clock::from_time_t(::timegm(&parts));
  auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(when - now);
  if (wait > max_retry_after)
    return {};
  return std::max(wait, std::chrono::milliseconds{0});
}

std::optional<std::chrono::milliseconds>
retry_after_of(const boost::beast::http::fields& headers,
               std::chrono::system_clock::time_point now) {
  constexpr std::string_view name = "retry-after";
  for (const auto& field : headers) {
    std::string_view found{field.name_string().data(),
                           field.name_string().size()};
    if (boost::beast::iequals(found.substr(0, name.size()), name))
      return parse_retry_after({field.value().data(), field.value().size()},
                               now);
  }
  return {};
}

bool is_retryable_status(unsigned status) {
  return status == 429 || status == 500 || status == 502 || status == 503
    || status == 504;
}

bool is_refusal_status(unsigned status) {
  return status == 429 || status == 503;
}

} // namespace troupe::net
