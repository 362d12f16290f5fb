#include "storage/records/sealed_record.hpp"

#include "storage/database/key_codec.hpp"
#include "storage/records/record_format.hpp"

#include <utility>
#include <vector>

namespace troupe::records {

namespace {

constexpr std::string_view format_sealed{"\2", 1};

// Others wait for their turn meanwhile; a record may have a MiB.
constexpr std::size_t rows_at_once = 64;
constexpr std::size_t bytes_at_once = 4u << 20;

std::string_view sealed_part(std::string_view bytes) {
  auto parts = key_codec::split(bytes);
  return parts && parts->size() == 2 && parts->front() == format_sealed
    ? parts->back()
    : std::string_view{};
}

/// The next rows from `from` on, as one batch. `from` is where to go on then;
/// "": all seen.
result<void> change_some(database& db, column where, std::string_view prefix,
                         std::string& from, const row_change& change) {
  std::vector<std::pair<std::string, std::string>> rows;
  std::size_t bytes = 0;
  std::string next;
  // Copies, since nothing may wait for a lock while the scan holds one.
  auto scanned = db.scan(
    where, prefix,
    [&](auto key, auto value) -> result<bool> {
      if (rows.size() == rows_at_once || bytes > bytes_at_once) {
        next = key;
        return false;
      }
      rows.emplace_back(key, value);
      bytes += value.size();
      return true;
    },
    from);
  if (!scanned)
    return scanned;
  batch changes;
  for (const auto& [key, value] : rows)
    if (auto changed = change(changes, key, value); !changed)
      return changed;
  if (auto written = db.write(changes); !written)
    return written;
  from = std::move(next);
  return {};
}

} // namespace

bool is_sealed(std::string_view bytes) {
  return !sealed_part(bytes).empty();
}

result<std::string> seal(sealer& seals, const sealed_place& place,
                         std::string_view text) {
  auto sealed = seals.seal_record(place, text);
  if (!sealed)
    return sealed.error();
  return key_codec::encode({format_sealed, *sealed});
}

result<secret> unseal(const sealer& seals, const sealed_place& place,
                      std::string_view bytes, std::string_view what) {
  const auto sealed = sealed_part(bytes);
  if (sealed.empty())
    return damaged(what, "is not sealed");
  auto text = seals.open_record(place, sealed);
  if (!text)
    return damaged(what, "does not open (" + text.error().text + ")");
  return text;
}

std::uint32_t key_version(std::string_view bytes) {
  const auto header = read_sealed_header(sealed_part(bytes));
  return header ? header->key_version : 0;
}

result<void> change_all(database& db, column where, std::string_view prefix,
                        std::mutex& lock, const row_change& change) {
  std::string from;
  do {
    std::lock_guard guard{lock};
    if (auto done = change_some(db, where, prefix, from, change); !done)
      return done;
  } while (!from.empty());
  return {};
}

} // namespace troupe::records
