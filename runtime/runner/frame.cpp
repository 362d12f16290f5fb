#include "runtime/runner/frame.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace troupe::frame {

namespace {

constexpr std::size_t lengths_at = 8;
constexpr std::size_t checksum_at = 28;
// More than this is only reserved once the bytes are there.
constexpr std::size_t trusted_bytes = 64u << 10;

void put_32(std::string& out, std::uint32_t n) {
  for (int shift = 0; shift < 32; shift += 8)
    out += static_cast<char>(n >> shift & 0xFF);
}

std::uint32_t take_32(std::string_view bytes, std::size_t at) {
  std::uint32_t n = 0;
  for (std::size_t i = 0; i < 4; ++i)
    n |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i]))
      << (8 * i);
  return n;
}

/// Of what `before` is of, and of `bytes` behind it.
std::uint32_t checksum(std::string_view bytes, std::uint32_t before = 0) {
  return static_cast<std::uint32_t>(::crc32_z(
    before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

} // namespace

result<std::string> encode(const message& m) {
  std::size_t total = header_bytes;
  for (const auto& p : m.parts) {
    if (p.size() > std::numeric_limits<std::uint32_t>::max())
      return bad_request("encode frame: a part of 4 GiB or more");
    total += p.size();
  }
  std::string out;
  out.reserve(total);
  out += magic;
  out += static_cast<char>(version);
  out += static_cast<char>(m.what);
  out.append(2, '\0');
  for (const auto& p : m.parts)
    put_32(out, static_cast<std::uint32_t>(p.size()));
  auto sum = checksum(out);
  for (const auto& p : m.parts)
    sum = checksum(p, sum);
  put_32(out, sum);
  for (const auto& p : m.parts)
    out += p;
  return out;
}

std::size_t reader::wanted() const noexcept {
  return state_ == state::more ? total_ - bytes_.size() : 0;
}

reader::state reader::fail(std::string text) {
  why_ = bad_request("read frame: " + std::move(text));
  bytes_.clear();
  return state_ = state::broken;
}

reader::state reader::feed(std::string_view bytes) {
  while (state_ == state::more && !bytes.empty()) {
    auto take = std::min(wanted(), bytes.size());
    bytes_.append(bytes.substr(0, take));
    bytes.remove_prefix(take);
    if (bytes_.size() < total_)
      break;
    if (!have_header_)
      read_header();
    if (state_ == state::more && bytes_.size() == total_)
      finish();
  }
  return state_;
}

reader::state reader::read_header() {
  std::string_view head{bytes_};
  if (head.substr(0, magic.size()) != magic)
    return fail("no magic number at its start");
  if (static_cast<std::uint8_t>(head[4]) != version)
    return fail("version " + std::to_string(static_cast<std::uint8_t>(head[4]))
                + " is not known");
  if (head[5] != static_cast<char>(expected_))
    return fail("of another kind than expected");
  if (head[6] != 0 || head[7] != 0)
    return fail("reserved bytes are not zero");
  std::size_t total = header_bytes;
  for (std::size_t i = 0; i < part_count; ++i) {
    lengths_[i] = take_32(head, lengths_at + 4 * i);
    total += lengths_[i];
  }
  if (total > limit_)
    return fail("of " + std::to_string(total) + " bytes, more than the "
                + std::to_string(limit_) + " allowed");
  have_header_ = true;
  total_ = total;
  bytes_.reserve(std::min(total, trusted_bytes));
  return state_;
}

reader::state reader::finish() {
  std::string_view all{bytes_};
  auto sum
    = checksum(all.substr(header_bytes), checksum(all.substr(0, checksum_at)));
  if (sum != take_32(all, checksum_at))
    return fail("checksum does not match");
  return state_ = state::complete;
}

message reader::take() {
  message m;
  m.what = expected_;
  std::size_t at = header_bytes;
  for (std::size_t i = 0; i < part_count && state_ == state::complete; ++i) {
    m.parts[i] = bytes_.substr(at, lengths_[i]);
    at += lengths_[i];
  }
  *this = reader{expected_, limit_};
  return m;
}

result<message> decode(kind expected, std::string_view bytes,
                       std::size_t limit) {
  reader in{expected, limit};
  switch (in.feed(bytes)) {
  case reader::state::complete:
    return in.take();
  case reader::state::broken:
    return in.why();
  case reader::state::more:
    break;
  }
  return bad_request("read frame: " + std::to_string(in.wanted())
                     + " bytes short");
}

} // namespace troupe::frame
