#include "storage/records/audit_store.hpp"

#include "runtime/engine/audit_page.hpp"
#include "runtime/model/codec/codec.hpp"
#include "storage/database/key_codec.hpp"
#include "storage/records/record_format.hpp"

#include <set>

namespace troupe {

namespace {

constexpr std::string_view an_entry = "audit entry";
constexpr std::string_view chain_name = "audit_chain";
constexpr std::string_view format_one{"\1", 1};
// Trimming by one at every entry would write a tombstone each time.
constexpr std::uint64_t trim_step = 1'024;
constexpr json::parse_limits entry_limits{.depth = 128, .bytes = 256u << 20};

std::string entry_key(const organization_id& organization, std::uint64_t n) {
  return key_codec::encode(organization, {key_codec::number(n)});
}

std::string chain_key(const organization_id& organization) {
  return key_codec::encode(organization, {chain_name});
}

struct stored_entry {
  std::string_view at;
  std::string_view hash;
  std::string_view text;
};

std::string encode(const stored_entry& e) {
  return key_codec::encode({format_one, e.at, e.hash, e.text});
}

result<stored_entry> decode(std::string_view bytes) {
  auto parts = key_codec::split(bytes);
  if (!parts || parts->size() != 4 || parts->front() != format_one)
    return records::damaged(an_entry, "does not read");
  return stored_entry{(*parts)[1], (*parts)[2], (*parts)[3]};
}

error broken(std::uint64_t sequence, std::string_view why) {
  return {ec::internal,
          "audit entry " + std::to_string(sequence) + " " + std::string{why}
            + ": the audit record was changed or is damaged",
          {},
          {}};
}

result<std::uint64_t> sequence_of(std::string_view key) {
  auto place = key_codec::split(key);
  if (!place || place->size() != 2)
    return records::damaged(an_entry, "has no number");
  return key_codec::read_number((*place)[1]);
}

} // namespace

audit_store::audit_store(std::shared_ptr<database> db,
                         std::shared_ptr<sealer> seals, audit_options options)
    : db_{std::move(db)}, seals_{std::move(seals)}, options_{options},
      generation_{db_->generation()} {}

result<std::unique_ptr<audit_store>>
audit_store::open(std::shared_ptr<database> db, std::shared_ptr<sealer> seals,
                  audit_options options) {
  return std::unique_ptr<audit_store>{
    new audit_store{std::move(db), std::move(seals), options}};
}

std::string audit_store::hash(const organization_id& organization,
                              const link& before, std::string_view at,
                              std::string_view text) const {
  return seals_->digest(
    organization, "audit",
    length_prefixed(
      {before.hash, key_codec::number(before.sequence + 1), at, text}));
}

auto audit_store::read_chain(const organization_id& organization) const
  -> result<chain> {
  auto stored = db_->get(column::meta, chain_key(organization));
  if (!stored)
    return stored.error();
  if (!*stored)
    return chain{};
  auto parts = key_codec::split(**stored);
  if (!parts || parts->size() != 5 || parts->front() != format_one)
    return records::damaged("audit chain", "does not read");
  auto first = key_codec::read_number((*parts)[1]);
  auto last = key_codec::read_number((*parts)[3]);
  if (!first || !last)
    return records::damaged("audit chain", "does not read");
  return chain{{*first, std::string{(*parts)[2]}},
               {*last, std::string{(*parts)[4]}}};
}

// -- writing ------------------------------------------------------------------

result<void> audit_store::append(const organization_id& organization,
                                 json::object entry, timestamp at,
                                 durability how) {
  return append(organization, std::vector{std::move(entry)}, at, how);
}

result<void> audit_store::append(const organization_id& organization,
                                 const std::vector<json::object>& all,
                                 timestamp at, durability how) {
  std::vector<std::string> texts;
  for (const auto& entry : all)
    texts.push_back(json::to_text(entry));
  const std::vector<std::string_view> views{texts.begin(), texts.end()};
  return append_texts(organization, views, at, how);
}

result<void> audit_store::append_texts(const organization_id& organization,
                                       std::span<const std::string_view> all,
                                       timestamp at, durability how,
                                       batch changes) {
  std::lock_guard guard{mutex_};
  if (auto recovered = db_->recover(); !recovered)
    return recovered;
  if (db_->generation() != generation_) {
    chains_.clear();
    generation_ = db_->generation();
  }
  auto known = chains_.find(organization);
  if (known == chains_.end()) {
    auto stored = read_chain(organization);
    if (!stored)
      return stored.error();
    known = chains_.emplace(organization, std::move(*stored)).first;
  }
  auto now = known->second;
  auto when = to_text(at);
  for (const auto& text : all) {
    if (text.size() > options_.entry_bytes)
      return error{ec::invalid_request,
                   "an audit entry is larger than "
                     + std::to_string(options_.entry_bytes) + " bytes",
                   {},
                   {}};
    now.head.hash = hash(organization, now.head, when, text);
    ++now.head.sequence;
    changes.put(column::audit, entry_key(organization, now.head.sequence),
                encode({when, now.head.hash, text}));
  }
  if (auto trimmed
      = trim(changes, organization, known->second.head.sequence, now);
      !trimmed)
    return trimmed;
  changes.put(
    column::meta, chain_key(organization),
    key_codec::encode({format_one, key_codec::number(now.anchor.sequence),
                       now.anchor.hash, key_codec::number(now.head.sequence),
                       now.head.hash}));
  if (auto written = db_->write(changes, how); !written)
    return written;
  known->second = std::move(now);
  return {};
}

result<void> audit_store::trim(batch& changes,
                               const organization_id& organization,
                               std::uint64_t last_stored, chain& now) {
  auto kept = now.head.sequence - now.anchor.sequence;
  if (kept <= options_.keep_entries + trim_step)
    return {};
  // Never into what was added just now: that is not in the store yet.
  auto last_to_go
    = std::min(now.head.sequence - options_.keep_entries, last_stored);
  if (last_to_go <= now.anchor.sequence)
    return {};
  auto bytes = db_->get(column::audit, entry_key(organization, last_to_go));
  if (!bytes)
    return bytes.error();
  if (!*bytes)
    return broken(last_to_go, "is missing");
  auto e = decode(**bytes);
  if (!e)
    return e.error();
  for (auto n = now.anchor.sequence + 1; n <= last_to_go; ++n)
    changes.erase(column::audit, entry_key(organization, n));
  now.anchor = {last_to_go, std::string{e->hash}};
  return {};
}

// -- reading ------------------------------------------------------------------

result<page<audit_entry>> audit_store::list(const organization_id& organization,
                                            std::uint64_t after,
                                            std::size_t limit) const {
  page<audit_entry> found;
  if (after == newest_audit_entries) {
    auto stored = read_chain(organization);
    if (!stored)
      return stored.error();
    after = stored->head.sequence
      - std::min<std::uint64_t>(stored->head.sequence, limit);
  }
  auto from = entry_key(organization, after + 1);
  auto scanned = db_->scan(
    column::audit, key_codec::encode(organization),
    [&](auto key, auto value) -> result<bool> {
      if (found.items.size() == limit) {
        if (limit > 0)
          found.next = std::to_string(found.items.back().sequence);
        return false;
      }
      auto sequence = sequence_of(key);
      if (!sequence)
        return sequence.error();
      auto e = decode(value);
      if (!e)
        return e.error();
      auto at = parse_timestamp(e->at);
      auto body = json::parse_object(e->text, entry_limits);
      if (!at || !body)
        return broken(*sequence, "does not read");
      found.items.push_back(
        {*sequence, *at, std::string{e->hash}, std::move(*body)});
      return true;
    },
    from);
  if (!scanned)
    return scanned.error();
  return found;
}

auto audit_store::verify(const organization_id& organization) const
  -> result<summary> {
  std::lock_guard guard{mutex_}; // nothing is trimmed meanwhile
  auto stored = read_chain(organization);
  if (!stored)
    return stored.error();
  auto before = stored->anchor;
  auto scanned
    = db_->scan(column::audit, key_codec::encode(organization),
                [&](auto key, auto value) -> result<bool> {
                  auto sequence = sequence_of(key);
                  if (!sequence)
                    return sequence.error();
                  if (*sequence != before.sequence + 1)
                    return broken(before.sequence + 1, "is missing");
                  auto e = decode(value);
                  if (!e)
                    return e.error();
                  auto expected = hash(organization, before, e->at, e->text);
                  if (!equal_in_constant_time(expected, e->hash))
                    return broken(*sequence, "is not what was written");
                  before = {*sequence, std::move(expected)};
                  return true;
                });
  if (!scanned)
    return scanned.error();
  if (before.sequence != stored->head.sequence)
    return broken(before.sequence + 1, "is missing");
  if (before.hash != stored->head.hash)
    return broken(before.sequence, "is not what was written");
  bool empty = before.sequence == stored->anchor.sequence;
  return summary{empty ? 0 : stored->anchor.sequence + 1,
                 empty ? 0 : before.sequence, before.hash};
}

auto audit_store::organizations() const
  -> result<std::vector<organization_id>> {
  std::set<std::string> names;
  for (auto where : {column::audit, column::meta}) {
    auto scanned = db_->scan(where, {}, [&](auto key, auto) -> result<bool> {
      auto place = key_codec::split(key);
      if (!place)
        return place.error();
      // `meta` holds more than chains.
      if (where == column::audit
          || (place->size() == 2 && place->back() == chain_name))
        names.emplace(place->front());
      return true;
    });
    if (!scanned)
      return scanned.error();
  }
  std::vector<organization_id> all;
  for (const auto& name : names)
    all.emplace_back(name);
  return all;
}

result<void> audit_store::verify_all() const {
  auto all = organizations();
  if (!all)
    return all.error();
  for (const auto& organization : *all)
    if (auto verified = verify(organization); !verified)
      return verified.error().within(organization.str());
  return {};
}

} // namespace troupe
