#include "runtime/base/trace_context.hpp"

#include <openssl/rand.h>

#include <algorithm>
#include <random>

namespace troupe {

namespace {

constexpr std::size_t version_00_size = 55;

int digit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; // lower case only
}

template <std::size_t Size>
bool read_hex(std::string_view text, std::array<std::uint8_t, Size>& out) {
  for (std::size_t i = 0; i < Size; ++i) {
    auto high = digit(text[2 * i]);
    auto low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0)
      return false;
    out[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return true;
}

template <std::size_t Size>
bool is_zero(const std::array<std::uint8_t, Size>& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](auto b) { return b == 0; });
}

template <std::size_t Size>
void fill(std::array<std::uint8_t, Size>& out) {
  do {
    if (RAND_bytes(out.data(), Size) != 1) { // only when the kernel says no
      std::random_device source;
      for (auto& b : out)
        b = static_cast<std::uint8_t>(source());
    }
  } while (is_zero(out));
}

/// As OpenTelemetry's TraceIdRatioBased: the id's last 56 bits decide.
bool in_share(const trace_context& c, double share) {
  std::uint64_t low = 0;
  for (std::size_t i = 9; i < 16; ++i)
    low = low << 8 | c.trace[i];
  return static_cast<double>(low) < share * 0x1p56;
}

} // namespace

std::string hex_of(const std::uint8_t* bytes, std::size_t size) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  out.reserve(2 * size);
  for (std::size_t i = 0; i < size; ++i) {
    out += digits[bytes[i] >> 4];
    out += digits[bytes[i] & 15];
  }
  return out;
}

std::optional<trace_context> parse_traceparent(std::string_view text) {
  if (text.size() < version_00_size || text[2] != '-' || text[35] != '-'
      || text[52] != '-')
    return std::nullopt;
  std::array<std::uint8_t, 1> version{}, flags{};
  trace_context out;
  if (!read_hex(text.substr(0, 2), version)
      || !read_hex(text.substr(3, 32), out.trace)
      || !read_hex(text.substr(36, 16), out.span)
      || !read_hex(text.substr(53, 2), flags))
    return std::nullopt;
  bool longer = text.size() > version_00_size;
  if (version[0] == 0xff || (version[0] == 0 && longer)
      || (longer && text[version_00_size] != '-'))
    return std::nullopt;
  if (is_zero(out.trace) || is_zero(out.span))
    return std::nullopt;
  out.sampled = (flags[0] & 1) != 0;
  return out;
}

std::string known_or_new_trace(std::string_view traceparent) {
  auto known = parse_traceparent(traceparent);
  return to_traceparent(known ? *known : next_span({}, 0));
}

std::string to_traceparent(const trace_context& c) {
  return "00-" + hex_of(c.trace.data(), c.trace.size()) + '-'
    + hex_of(c.span.data(), c.span.size()) + (c.sampled ? "-01" : "-00");
}

trace_context next_span(const std::optional<trace_context>& parent,
                        double share) {
  trace_context out;
  if (parent) {
    out.trace = parent->trace;
    out.sampled = parent->sampled;
  } else {
    fill(out.trace);
    out.sampled = in_share(out, share);
  }
  fill(out.span);
  return out;
}

} // namespace troupe
