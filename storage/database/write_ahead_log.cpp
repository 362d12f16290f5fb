#include "storage/database/write_ahead_log.hpp"

#include "storage/database/durable_files.hpp"

#include <boost/crc.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

namespace {

// RocksDB's log format: blocks of 32 KiB; a record never crosses a border, so
// long ones come in fragments. Each fragment: masked CRC-32C over type and
// payload, length (both little endian), type, payload.
constexpr std::size_t block_bytes = 32'768;
constexpr std::size_t header_bytes = 7;
enum fragment : std::uint8_t { full = 1, first, middle, last };

// A log is bounded by database_options::wal_bytes; beyond this it is not ours.
constexpr std::size_t max_log_bytes = 1u << 30;

std::uint32_t little_endian(std::string_view b) {
  std::uint32_t n = 0;
  for (auto i = b.size(); i-- > 0;)
    n = n << 8 | static_cast<unsigned char>(b[i]);
  return n;
}

std::uint32_t masked_crc(std::string_view type_and_payload) {
  boost::crc_optimal<32, 0x1edc6f41, ~0u, ~0u, true, true> castagnoli;
  castagnoli.process_bytes(type_and_payload.data(), type_and_payload.size());
  return std::rotr(castagnoli.checksum(), 15) + 0xa282ead8u;
}

std::size_t left_in_block(std::size_t at) {
  return block_bytes - at % block_bytes;
}

bool is_zero(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == 0; });
}

struct header {
  std::uint32_t crc;
  std::size_t length;
  std::uint8_t type;
};

std::optional<header> header_at(std::string_view log, std::size_t at) {
  if (at + header_bytes > log.size() || left_in_block(at) < header_bytes)
    return {};
  return header{little_endian(log.substr(at, 4)),
                little_endian(log.substr(at + 4, 2)),
                static_cast<std::uint8_t>(log[at + 6])};
}

bool reads(std::string_view log, std::size_t at, const header& h,
           std::size_t length) {
  return h.type >= full && h.type <= last
    && header_bytes + length <= left_in_block(at)
    && at + header_bytes + length <= log.size()
    && masked_crc(log.substr(at + 6, 1 + length)) == h.crc;
}

// Whether what begins at `at` can be the beginning of a write that never
// ended: it wants more bytes than there are, and what is there makes no
// complete record, neither with another length nor further on.
bool is_torn(std::string_view log, std::size_t at) {
  if (is_zero(log.substr(at)))
    return true; // grown, never written
  auto h = header_at(log, at);
  if (!h)
    return log.size() - at < header_bytes;
  if (h->type < full || h->type > last
      || header_bytes + h->length > left_in_block(at)
      || at + header_bytes + h->length <= log.size())
    return false;
  if (reads(log, at, *h, log.size() - at - header_bytes))
    return false;
  for (auto next = at + 1; next + header_bytes <= log.size(); ++next)
    if (auto other = header_at(log, next);
        other && reads(log, next, *other, other->length))
      return false;
  return true;
}

error damage(const std::filesystem::path& file, const log_finding& found,
             std::string_view what) {
  return {
    ec::internal,
    file.string() + " " + std::string{what} + " at byte "
      + std::to_string(found.offset)
      + ": acknowledged changes after it would be lost; restore a backup, or "
        "open with accept_damaged_log to continue without them",
    {},
    {}};
}

} // namespace

log_finding examine_log(std::string_view bytes) {
  std::size_t at = 0;
  std::optional<std::size_t> open; // where an unfinished record began
  while (at < bytes.size()) {
    if (left_in_block(at) < header_bytes) {
      auto padding = std::min(left_in_block(at), bytes.size() - at);
      if (!is_zero(bytes.substr(at, padding)))
        return {log_state::damaged, at};
      at += padding;
      continue;
    }
    auto h = header_at(bytes, at);
    if (!h || !reads(bytes, at, *h, h->length))
      return {is_torn(bytes, at) ? log_state::torn : log_state::damaged,
              open.value_or(at)};
    bool begins = h->type == full || h->type == first;
    if (begins == open.has_value())
      return {log_state::damaged, at};
    if (h->type == first)
      open = at;
    else if (h->type == last)
      open.reset();
    at += header_bytes + h->length;
  }
  if (open)
    return {log_state::torn, *open};
  return {log_state::whole, at};
}

result<void> check_logs(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> logs;
  std::vector<std::filesystem::path> manifests;
  std::error_code failed;
  std::filesystem::directory_iterator i{directory, failed};
  for (; !failed && i != std::filesystem::directory_iterator{};
       i.increment(failed)) {
    auto name = i->path().filename().string();
    if (name.ends_with(".log"))
      logs.push_back(i->path());
    else if (name.starts_with("MANIFEST-"))
      manifests.push_back(i->path());
  }
  // Numbers have leading zeros, so names sort as they do.
  std::sort(logs.begin(), logs.end());
  std::optional<std::pair<std::filesystem::path, log_finding>> torn;
  for (const auto& log : logs) {
    auto content = files::read(log, max_log_bytes);
    if (!content)
      return content.error();
    if (torn && !content->empty())
      return damage(torn->first, torn->second, "ends early");
    auto found = examine_log(*content);
    if (found.state == log_state::damaged)
      return damage(log, found, "is damaged");
    if (found.state == log_state::torn)
      torn.emplace(log, found);
  }
  for (const auto& manifest : manifests) {
    auto content = files::read(manifest, max_log_bytes);
    if (!content)
      return content.error();
    if (auto found = examine_log(*content); found.state == log_state::damaged)
      return damage(manifest, found, "is damaged");
  }
  return {};
}

} // namespace troupe
