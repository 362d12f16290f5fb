#include "storage/records/run_store.hpp"

#include "runtime/base/log.hpp"
#include "storage/database/cursor.hpp"
#include "storage/database/key_codec.hpp"
#include "storage/records/record_format.hpp"
#include "storage/records/sealed_record.hpp"

#include <limits>

namespace troupe {

namespace {

constexpr std::string_view a_run = "run";

// What stays of an output when a record is too large: its end, where the
// reason of a failure usually stands.
constexpr std::size_t kept_output_bytes = 16u << 10;

// Newest first in order of keys: the time counts down.
std::string newest_first(timestamp at) {
  auto since = static_cast<std::uint64_t>(at.time_since_epoch().count());
  return key_codec::number(std::numeric_limits<std::uint64_t>::max() - since);
}

std::string run_key(const organization_id& organization, const run_id& id) {
  return key_codec::encode(organization, {id.str()});
}

std::string index_key(const run_record& r) {
  return key_codec::encode(r.organization,
                           {newest_first(r.created_at), r.id.str()});
}

struct index_row {
  organization_id organization;
  run_id id;
  bool ended = false;
  std::uint64_t bytes = 0;
};

std::string index_value(bool ended, std::uint64_t bytes) {
  return key_codec::encode(
    {ended ? "ended" : "open", key_codec::number(bytes)});
}

result<index_row> read_row(std::string_view key, std::string_view value) {
  auto place = key_codec::split(key);
  auto parts = key_codec::split(value);
  if (!place || place->size() != 3 || !parts || parts->size() != 2)
    return records::damaged("index of runs", "does not read");
  auto bytes = key_codec::read_number((*parts)[1]);
  if (!bytes)
    return bytes.error();
  return index_row{organization_id{std::string{(*place)[0]}},
                   run_id{std::string{(*place)[2]}}, (*parts)[0] == "ended",
                   *bytes};
}

void keep_end(std::string& text, bool& truncated) {
  if (text.size() <= kept_output_bytes)
    return;
  text.erase(0, text.size() - kept_output_bytes);
  text = json::repair_utf8(text);
  truncated = true;
}

// Streams first, then the value: what is small says most.
run_record without_weight(const run_record& r, std::size_t limit) {
  auto lighter = r;
  lighter.request = nullptr;
  if (!r.result)
    return lighter;
  auto outcome = *r.result;
  keep_end(outcome.stdout_text, outcome.stdout_truncated);
  keep_end(outcome.stderr_text, outcome.stderr_truncated);
  outcome.notes.push_back("the record was too large to be stored completely");
  lighter.result = std::make_shared<const run_result>(outcome);
  if (encode_run(lighter).size() <= limit)
    return lighter;
  outcome.value_json = "null";
  outcome.value_truncated = true;
  outcome.agent_state_json.clear();
  outcome.agent_state_diff.clear();
  outcome.network.clear();
  outcome.failure.traceback.clear();
  lighter.result = std::make_shared<const run_result>(std::move(outcome));
  return lighter;
}

} // namespace

void put_run_index(batch& changes, const run_record& r, std::size_t bytes) {
  changes.put(column::run_index, index_key(r),
              index_value(r.phase == run_phase::ended, bytes));
}

sealed_place place_of_run(const organization_id& organization,
                          std::string_view id) {
  return {organization, sealed_kind::run, std::string{id}, {}};
}

run_store::run_store(std::shared_ptr<database> db,
                     std::shared_ptr<sealer> seals, run_store_options options)
    : db_{std::move(db)}, seals_{std::move(seals)}, options_{options} {}

result<std::unique_ptr<run_store>>
run_store::open(std::shared_ptr<database> db, std::shared_ptr<sealer> seals,
                run_store_options options) {
  std::unique_ptr<run_store> made{
    new run_store{std::move(db), std::move(seals), options}};
  if (auto counted = made->count_all(); !counted)
    return counted.error();
  return made;
}

result<void> run_store::count_all() {
  generation_ = db_->generation();
  totals_.clear();
  return db_->scan(column::run_index, {},
                   [this](auto key, auto value) -> result<bool> {
                     auto row = read_row(key, value);
                     if (!row)
                       return row.error();
                     auto& sum = totals_[row->organization];
                     ++sum.runs;
                     sum.bytes += row->bytes;
                     return true;
                   });
}

// -- writing ------------------------------------------------------------------

result<void> run_store::put(const run_record& r, durability how) {
  const run_write one{&r, false};
  return put({&one, 1}, how);
}

result<void> run_store::put(const std::vector<run_record>& all,
                            durability how) {
  std::vector<run_write> writes;
  for (const auto& r : all)
    writes.push_back({&r, false});
  return put(writes, how);
}

result<void> run_store::put(std::span<const run_write> all, durability how) {
  std::lock_guard guard{mutex_};
  if (auto recovered = db_->recover(); !recovered)
    return recovered;
  if (db_->generation() != generation_)
    if (auto counted = count_all(); !counted)
      return counted;
  batch changes;
  std::map<organization_id, totals> now;
  for (const auto& one : all)
    if (auto added = add(changes, one, now); !added)
      return added;
  for (auto& [organization, sum] : now)
    if (auto trimmed = trim(changes, organization, sum); !trimmed)
      return trimmed;
  if (auto written = db_->write(changes, how); !written)
    return written;
  for (const auto& [organization, sum] : now)
    totals_[organization] = sum;
  return {};
}

result<void> run_store::add(batch& changes, const run_write& one,
                            std::map<organization_id, totals>& now) {
  const auto& r = *one.record;
  if (r.organization.empty() || r.id.empty())
    return error{ec::internal, "a run has an id and an organization", {}, {}};
  auto text = encode_run(r);
  if (text.size() > options_.record_bytes) {
    wipe(text);
    text = encode_run(without_weight(r, options_.record_bytes));
  }
  auto sealed
    = records::seal(*seals_, place_of_run(r.organization, r.id.str()), text);
  if (r.request)
    wipe(text);
  if (!sealed)
    return sealed.error();
  auto& sum
    = now.try_emplace(r.organization, totals_[r.organization]).first->second;
  auto before = one.fresh ? result<std::uint64_t>{0} : stored_bytes(r);
  if (!before)
    return before.error();
  sum.bytes -= std::min(sum.bytes, *before);
  if (*before == 0)
    ++sum.runs;
  sum.bytes += sealed->size();
  put_run_index(changes, r, sealed->size());
  changes.put(column::runs, run_key(r.organization, r.id), std::move(*sealed));
  return {};
}

/// 0: nothing of it is there.
result<std::uint64_t> run_store::stored_bytes(const run_record& r) const {
  const auto key = index_key(r);
  auto value = db_->get(column::run_index, key);
  if (!value)
    return value.error();
  if (!*value)
    return std::uint64_t{0};
  auto row = read_row(key, **value);
  if (!row)
    return row.error();
  return row->bytes;
}

result<void> run_store::trim(batch& changes,
                             const organization_id& organization, totals& now) {
  // In steps: the search for the oldest passes what was erased before, and
  // would do so at every write.
  const auto step = options_.keep_runs / 16;
  if (now.runs <= options_.keep_runs + step && now.bytes <= options_.keep_bytes)
    return {};
  return db_->scan_back(
    column::run_index, key_codec::encode(organization),
    [&](auto key, auto value) -> result<bool> {
      auto row = read_row(key, value);
      if (!row)
        return row.error();
      if (!row->ended)
        return true;
      changes.erase(column::run_index, std::string{key});
      changes.erase(column::runs, run_key(organization, row->id));
      --now.runs;
      now.bytes -= std::min(now.bytes, row->bytes);
      return now.runs > options_.keep_runs || now.bytes > options_.keep_bytes;
    });
}

result<void>
run_store::erase_organization(const organization_id& organization) {
  std::lock_guard guard{mutex_};
  if (auto recovered = db_->recover(); !recovered)
    return recovered;
  batch changes;
  auto prefix = key_codec::encode(organization);
  changes.erase_prefix(column::runs, prefix);
  changes.erase_prefix(column::run_index, prefix);
  auto written = db_->write(changes);
  if (written)
    totals_.erase(organization);
  return written;
}

result<void> run_store::reseal(const organization_id& organization) {
  const auto versions = seals_->data_key_versions(organization);
  if (versions.size() < 2)
    return {};
  auto anew = [&](batch& changes, auto key, auto value) -> result<void> {
    if (records::key_version(value) == versions.back())
      return {};
    auto where = key_codec::split(key);
    if (!where || where->size() != 2)
      return records::damaged(a_run, "has no name");
    const auto place = place_of_run(organization, where->back());
    auto text = records::unseal(*seals_, place, value, a_run);
    if (!text)
      return text.error();
    auto sealed = records::seal(*seals_, place, text->reveal());
    if (!sealed)
      return sealed.error();
    changes.put(column::runs, std::string{key}, std::move(*sealed));
    return {};
  };
  return records::change_all(*db_, column::runs,
                             key_codec::encode(organization), mutex_, anew);
}

// -- reading ------------------------------------------------------------------

result<run_record> run_store::find(const organization_id& organization,
                                   const run_id& id) const {
  auto bytes = db_->get(column::runs, run_key(organization, id));
  if (!bytes)
    return bytes.error();
  if (!*bytes)
    return error{ec::not_found,
                 "there is no run '" + id.str().substr(0, 128) + "'",
                 {},
                 {}};
  auto text = records::unseal(*seals_, place_of_run(organization, id.str()),
                              **bytes, a_run);
  if (!text)
    return text.error();
  auto r = decode_run(text->reveal());
  if (r && (r->organization != organization || r->id != id))
    return records::damaged(a_run, "is stored under a wrong key");
  return r;
}

result<page<run_record>> run_store::list(const organization_id& organization,
                                         std::string_view after,
                                         std::size_t limit) const {
  auto prefix = key_codec::encode(organization);
  auto from = cursor::begin(prefix, after);
  if (!from)
    return from.error();
  std::vector<run_id> ids;
  page<run_record> found;
  std::string last;
  auto scanned = db_->scan(
    column::run_index, prefix,
    [&](auto key, auto value) -> result<bool> {
      if (ids.size() == limit) {
        found.next = cursor::encode(prefix, last);
        return false;
      }
      auto row = read_row(key, value);
      if (!row)
        return row.error();
      ids.push_back(std::move(row->id));
      last = key;
      return true;
    },
    *from);
  if (!scanned)
    return scanned.error();
  for (const auto& id : ids) {
    auto r = find(organization, id);
    if (!r && r.error().code == ec::not_found)
      continue; // trimmed a moment ago
    if (!r)
      return r.error();
    found.items.push_back(std::move(*r));
  }
  return found;
}

result<std::vector<run_record>> run_store::unfinished() const {
  std::vector<index_row> rows;
  auto scanned = db_->scan(column::run_index, {},
                           [&](auto key, auto value) -> result<bool> {
                             auto row = read_row(key, value);
                             if (!row)
                               return row.error();
                             if (!row->ended)
                               rows.push_back(std::move(*row));
                             return true;
                           });
  if (!scanned)
    return scanned.error();
  std::vector<run_record> all;
  for (const auto& row : rows) {
    auto r = find(row.organization, row.id);
    if (r)
      all.push_back(std::move(*r));
    else
      log::warning("skipped an unreadable run record",
                   {{"run", row.id.str()}, {"reason", r.error().text}});
  }
  return all;
}

std::size_t run_store::count(const organization_id& organization) const {
  std::lock_guard guard{mutex_};
  auto i = totals_.find(organization);
  return i == totals_.end() ? 0 : i->second.runs;
}

} // namespace troupe
