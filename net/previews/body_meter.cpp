#include "net/previews/body_meter.hpp"

#include <algorithm>

namespace troupe::net {

namespace {

constexpr unsigned most_digits = 15; // of a chunk's size: below 2^60

} // namespace

std::size_t body_meter::take(std::string_view bytes, std::string* content) {
  std::size_t used = 0;
  while (used < bytes.size() && at_ != place::end && at_ != place::bad) {
    if (at_ != place::data) {
      take_one(bytes[used++]);
      continue;
    }
    const auto n = std::min<std::uint64_t>(left_, bytes.size() - used);
    left_ -= n;
    if (content)
      *content += bytes.substr(used, n);
    used += n;
    if (left_ == 0)
      at_ = chunked_ ? place::data_cr : place::end;
  }
  return at_ == place::bad ? 0 : used;
}

void body_meter::take_digit(char c) {
  unsigned value = 16;
  if (c >= '0' && c <= '9')
    value = static_cast<unsigned>(c - '0');
  else if (c >= 'a' && c <= 'f')
    value = static_cast<unsigned>(c - 'a') + 10;
  else if (c >= 'A' && c <= 'F')
    value = static_cast<unsigned>(c - 'A') + 10;
  if (value == 16 || ++digits_ > most_digits)
    at_ = place::bad;
  else
    left_ = left_ * 16 + value;
}

void body_meter::take_one(char c) {
  const auto expect
    = [&](char wanted, place next) { at_ = c == wanted ? next : place::bad; };
  switch (at_) {
  case place::size:
    if (c == '\r' && digits_ > 0)
      at_ = place::size_end;
    else
      take_digit(c);
    return;
  case place::size_end:
    digits_ = 0;
    return expect('\n', left_ > 0 ? place::data : place::last_cr);
  case place::data_cr:
    return expect('\r', place::data_lf);
  case place::data_lf:
    return expect('\n', place::size);
  case place::last_cr:
    return expect('\r', place::last_lf);
  case place::last_lf:
    return expect('\n', place::end);
  case place::data:
  case place::end:
  case place::bad:
    return;
  }
}

} // namespace troupe::net
