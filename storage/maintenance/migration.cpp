#include "storage/maintenance/migration.hpp"

#include "runtime/base/log.hpp"
#include "storage/database/key_codec.hpp"
#include "storage/records/idempotency_store.hpp"
#include "storage/records/record_format.hpp"
#include "storage/records/run_store.hpp"
#include "storage/records/sealed_record.hpp"

#include <array>

namespace troupe {

namespace {

std::string format_key() {
  return key_codec::encode_global({"format"});
}

result<bool> is_empty(const database& db) {
  bool empty = true;
  for (std::size_t i = 0; i < column_count && empty; ++i) {
    auto looked
      = db.scan(static_cast<column>(i), {}, [&](auto, auto) -> result<bool> {
          empty = false;
          return false;
        });
    if (!looked)
      return looked.error();
  }
  return empty;
}

// -- the steps ---------------------------------------------------------------

result<void> index_runs(database& db, sealer&, batch& changes) {
  return db.scan(column::runs, {}, [&](auto, auto value) -> result<bool> {
    auto r = decode_run(value);
    if (!r)
      return r.error();
    put_run_index(changes, *r, value.size());
    return true;
  });
}

result<void> rewrite(database& db, column where,
                     const records::row_change& change) {
  std::mutex alone; // nobody else has the store yet
  if (auto done = records::change_all(db, where, {}, alone, change); !done)
    return done;
  // Or what was written before would stay in the files for a long time.
  return db.compact(where);
}

// More than fits into one batch, so each row tells whether it was done.
result<void> seal_records(database& db, sealer& seals, batch&) {
  auto run = [&](batch& changes, auto key, auto value) -> result<void> {
    if (records::is_sealed(value))
      return {};
    const auto where = key_codec::split(key);
    if (!where || where->size() != 2)
      return records::damaged("run", "has no name");
    auto sealed = records::seal(
      seals,
      place_of_run(organization_id{std::string{where->front()}}, where->back()),
      value);
    if (!sealed)
      return sealed.error();
    changes.put(column::runs, std::string{key}, std::move(*sealed));
    return {};
  };
  if (auto done = rewrite(db, column::runs, run); !done)
    return done;
  auto answer = [&](batch& changes, auto key, auto value) {
    return idempotency_store::seal_old_row(seals, changes, key, value);
  };
  if (auto done = rewrite(db, column::idempotency, answer); !done)
    return done;
  return db.reopen();
}

/// Writes what is more than a batch itself; what is in the batch is written
/// together with the new number.
using step = result<void> (*)(database&, sealer&, batch&);
// The n-th leads from format n to n + 1.
constexpr std::array<step, current_format> steps{index_runs, seal_records};

} // namespace

result<std::uint32_t> read_format(const database& db) {
  auto stored = db.get(column::meta, format_key());
  if (!stored)
    return stored.error();
  if (!*stored) {
    auto empty = is_empty(db);
    if (!empty)
      return empty.error();
    return *empty ? current_format : 0;
  }
  auto format = key_codec::read_number(**stored);
  if (!format)
    return format.error();
  if (*format > current_format)
    return error{ec::invalid_request,
                 "the store in " + db.directory().string() + " has format "
                   + std::to_string(*format)
                   + ", this version supports formats up to "
                   + std::to_string(current_format)
                   + ": use the newer version, or restore a backup made "
                     "before it",
                 {},
                 {}};
  return static_cast<std::uint32_t>(*format);
}

result<void> migrate(database& db, sealer& seals, std::uint32_t format) {
  auto is_marked = db.get(column::meta, format_key());
  if (!is_marked)
    return is_marked.error();
  if (format == current_format && *is_marked)
    return {};
  do {
    batch changes;
    if (format < current_format) {
      log::info("migrating the store to a newer format",
                {{"from", std::to_string(format)}});
      if (auto done = steps[format](db, seals, changes); !done)
        return done.error().within("migrate the store from format "
                                   + std::to_string(format));
      ++format;
    }
    changes.put(column::meta, format_key(), key_codec::number(format));
    if (auto written = db.write(changes); !written)
      return written;
  } while (format < current_format);
  return {};
}

} // namespace troupe
