#include "storage/migration.hpp"

#include "storage/keys.hpp"
#include "storage/run_store.hpp"

#include <array>

namespace troupe {

namespace {

std::string format_key() {
  return keys::spell_global({"format"});
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

result<void> index_runs(const database& db, batch& changes) {
  return db.scan(column::runs, {}, [&](auto, auto value) -> result<bool> {
    auto r = decode_run(value);
    if (!r)
      return r.error();
    put_run_index(changes, *r, value.size());
    return true;
  });
}

using step = result<void> (*)(const database&, batch&);
// The n-th leads from format n to n + 1.
constexpr std::array<step, current_format> steps{index_runs};

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
  auto format = keys::read_number(**stored);
  if (!format)
    return format.error();
  if (*format > current_format)
    return error{ec::invalid_request,
                 "the store in " + db.directory().string() + " has format "
                   + std::to_string(*format)
                   + ", this version knows formats up to "
                   + std::to_string(current_format)
                   + ": use the newer version, or restore a backup made "
                     "before it",
                 {},
                 {}};
  return static_cast<std::uint32_t>(*format);
}

result<void> migrate(database& db) {
  auto format = read_format(db);
  if (!format)
    return format.error();
  auto is_marked = db.get(column::meta, format_key());
  if (!is_marked)
    return is_marked.error();
  if (*format == current_format && *is_marked)
    return {};
  do {
    batch changes;
    if (*format < current_format) {
      if (auto done = steps[*format](db, changes); !done)
        return done.error().within("migrate the store from format "
                                   + std::to_string(*format));
      ++*format;
    }
    changes.put(column::meta, format_key(), keys::number(*format));
    if (auto written = db.write(changes); !written)
      return written;
  } while (*format < current_format);
  return {};
}

} // namespace troupe
