#include "storage/maintenance/audit_verifier.hpp"

#include "storage/maintenance/migration.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <system_error>

namespace troupe {

namespace {

// An engine that writes drops files now and then. Who reads the list of them
// first and opens them later may find one gone, or not even miss it: that looks
// like damage. The next look sees what took its place; damage that stays after
// so many looks during which no file came or went is damage.
constexpr int looks = 10;
constexpr int looks_at_most = 1'000; // at a store that never rests

std::set<std::string> files_of(const std::filesystem::path& directory) {
  std::set<std::string> names;
  std::error_code gone; // some other time
  for (std::filesystem::directory_iterator i{directory, gone}, end;
       !gone && i != end; i.increment(gone))
    names.insert(i->path().filename().string());
  return names;
}

result<audit_findings> look(const std::filesystem::path& directory,
                            const store_options& options,
                            const organization_id& only, bool beside) {
  auto master = options.master;
  if (master.file.empty())
    master.file = options.data_directory / "master.key";
  auto reading = options.database;
  reading.read_only = true;
  reading.as_secondary = beside;
  auto db = database::open(directory, reading);
  if (!db)
    return db.error();
  if (auto format = read_format(**db); !format)
    return format.error();
  auto source = key_source::open(master, false);
  if (!source)
    return source.error();
  auto seals = sealer::open_to_read(*db, std::move(*source));
  if (!seals)
    return seals.error();
  auto audit = audit_store::open(*db, *seals, options.audit);
  if (!audit)
    return audit.error();
  auto all = (*audit)->organizations();
  if (!all)
    return all.error();
  audit_findings found;
  found.beside_engine = beside;
  for (const auto& who : *all)
    if (only.empty() || who == only)
      found.chains.emplace_back(who, (*audit)->verify(who));
  return found;
}

} // namespace

bool audit_findings::whole() const {
  return std::all_of(chains.begin(), chains.end(),
                     [](const auto& c) { return c.second.has_value(); });
}

result<audit_findings> examine_audit(const store_options& options,
                                     const organization_id& only) {
  const auto directory = store_directory(options);
  std::error_code failed;
  if (!std::filesystem::exists(directory, failed))
    return error{ec::not_found, "no store in " + directory.string(), {}, {}};
  auto found = look(directory, options, only, false);
  if (found || found.error().code != ec::conflict)
    return found;
  for (int i = 0, quiet = 0; i < looks_at_most && quiet < looks; ++i) {
    auto before = files_of(directory);
    found = look(directory, options, only, true);
    if (found && found->whole())
      return found;
    if (before == files_of(directory))
      ++quiet;
  }
  return found;
}

} // namespace troupe
