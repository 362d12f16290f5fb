#include "storage/records/idempotency_store.hpp"

#include "runtime/engine/idempotency.hpp"
#include "runtime/json/reader.hpp"
#include "runtime/model/codec/codec.hpp"
#include "storage/database/key_codec.hpp"
#include "storage/records/record_format.hpp"
#include "storage/records/sealed_record.hpp"

namespace troupe {

struct idempotency_store::entry {
  std::string request; // digest
  run_id run;
  bool ended = false;
  timestamp expires_at{};
  std::string answer; // sealed; "": none
};

namespace {

constexpr std::string_view a_key = "idempotency key";

template <class Entry>
std::string encode(const Entry& e) {
  json::object o;
  o["request"] = e.request;
  o["run"] = e.run.str();
  o["state"] = e.ended ? "ended" : "running";
  o["expires_at"] = to_text(e.expires_at);
  return records::encode(o, e.answer);
}

template <class Entry>
result<Entry> decode(std::string_view bytes) {
  auto parts = records::decode(bytes, a_key);
  if (!parts)
    return parts.error();
  json::reader in{parts->body};
  Entry e;
  e.request = in.required_text("request");
  e.run = run_id{in.required_text("run")};
  e.ended = in.required_text("state") == "ended";
  auto expires = parse_timestamp(in.required_text("expires_at"));
  if (in.finish_lenient() || !expires)
    return records::damaged(a_key, "does not read");
  e.expires_at = *expires;
  e.answer = parts->extra;
  return e;
}

/// The digest behind an empty component, which no key of a client is.
std::string place_of(const sealer& seals, const organization_id& organization,
                     std::string_view key) {
  return key_codec::encode(
    organization, {{}, seals.digest(organization, "idempotency key", key)});
}

/// Where the answer lies that belongs to a row: `parts` of the row's key.
sealed_place place_of_answer(std::span<const std::string_view> parts,
                             const run_id& run) {
  return {organization_id{std::string{parts.front()}},
          sealed_kind::idempotent_answer, run.str(), parts.back()};
}

bool is_place(std::span<const std::string_view> parts) {
  return parts.size() == 3 && parts[1].empty();
}

error not_yours() {
  return {
    ec::not_found, "the idempotency key does not belong to this run", {}, {}};
}

} // namespace

idempotency_store::idempotency_store(std::shared_ptr<database> db,
                                     std::shared_ptr<sealer> seals,
                                     idempotency_options options)
    : db_{std::move(db)}, seals_{std::move(seals)}, options_{options} {}

result<std::unique_ptr<idempotency_store>>
idempotency_store::open(std::shared_ptr<database> db,
                        std::shared_ptr<sealer> seals,
                        idempotency_options options) {
  std::unique_ptr<idempotency_store> made{
    new idempotency_store{std::move(db), std::move(seals), options}};
  if (auto counted = made->count_all(); !counted)
    return counted.error();
  return made;
}

result<void> idempotency_store::count_all() {
  generation_ = db_->generation();
  count_.clear();
  return db_->scan(column::idempotency, {},
                   [this](auto key, auto) -> result<bool> {
                     auto place = key_codec::split(key);
                     if (!place)
                       return place.error();
                     ++count_[std::string{place->front()}];
                     return true;
                   });
}

auto idempotency_store::read(const std::string& place) const
  -> result<std::optional<entry>> {
  auto bytes = db_->get(column::idempotency, place);
  if (!bytes)
    return bytes.error();
  if (!*bytes)
    return std::optional<entry>{};
  auto e = decode<entry>(**bytes);
  if (!e)
    return e.error();
  return std::optional{std::move(*e)};
}

auto idempotency_store::read_mine(const std::string& place,
                                  const run_id& run) const -> result<entry> {
  auto found = read(place);
  if (!found)
    return found.error();
  if (!*found || (*found)->run != run)
    return not_yours();
  return std::move(**found);
}

result<idempotency_claim>
idempotency_store::claim(const organization_id& organization,
                         std::string_view key, std::string_view request,
                         const run_id& run, timestamp now, durability how) {
  if (key.empty() || key.size() > options_.key_bytes)
    return bad_field("/idempotency_key",
                     "has 1 to " + std::to_string(options_.key_bytes)
                       + " bytes");
  auto digest = seals_->digest(organization, "idempotency", request);
  auto place = place_of(*seals_, organization, key);
  std::lock_guard guard{mutex_};
  if (auto recovered = db_->recover(); !recovered)
    return recovered.error();
  if (db_->generation() != generation_)
    if (auto counted = count_all(); !counted)
      return counted.error();
  auto found = read(place);
  if (!found)
    return found.error();
  if (*found && (*found)->expires_at > now) {
    auto& e = **found;
    if (!equal_in_constant_time(e.request, digest))
      return key_of_another_request();
    auto state = e.ended ? idempotency_claim::kind::ended
                         : idempotency_claim::kind::running;
    idempotency_claim taken{state, std::move(e.run), {}};
    if (e.answer.empty())
      return taken;
    const auto parts = key_codec::split(place);
    auto answer = records::unseal(*seals_, place_of_answer(*parts, taken.run),
                                  e.answer, a_key);
    if (!answer)
      return answer.error();
    taken.answer = answer->reveal();
    return taken;
  }
  auto& count = count_[organization.str()];
  if (!*found && count >= options_.keep_keys)
    return error{ec::exhausted,
                 "the limit of " + std::to_string(options_.keep_keys)
                   + " idempotency keys is reached; older ones expire after "
                   + std::to_string(options_.keep.count()) + " hours",
                 {},
                 {}};
  batch changes;
  changes.put(column::idempotency, place,
              encode(entry{digest, run, false, now + options_.keep, {}}));
  if (auto written = db_->write(changes, how); !written)
    return written.error();
  count += !*found;
  return idempotency_claim{idempotency_claim::kind::mine, run, {}};
}

result<void> idempotency_store::finish(const organization_id& organization,
                                       std::string_view key, const run_id& run,
                                       std::string_view answer, timestamp now) {
  auto place = place_of(*seals_, organization, key);
  std::lock_guard guard{mutex_};
  if (auto recovered = db_->recover(); !recovered)
    return recovered;
  auto e = read_mine(place, run);
  if (!e)
    return e.error();
  e->ended = true;
  e->expires_at = now + options_.keep;
  if (!answer.empty() && answer.size() <= options_.answer_bytes) {
    auto sealed = seal(place, run, answer);
    if (!sealed)
      return sealed.error();
    e->answer = std::move(*sealed);
  }
  batch changes;
  changes.put(column::idempotency, place, encode(*e));
  return db_->write(changes);
}

result<void> idempotency_store::release(const organization_id& organization,
                                        std::string_view key,
                                        const run_id& run) {
  auto place = place_of(*seals_, organization, key);
  std::lock_guard guard{mutex_};
  if (auto recovered = db_->recover(); !recovered)
    return recovered;
  auto e = read_mine(place, run);
  if (!e)
    return e.error();
  batch changes;
  changes.erase(column::idempotency, place);
  auto written = db_->write(changes);
  if (written)
    count_less(organization.str());
  return written;
}

result<std::string> idempotency_store::seal(const std::string& place,
                                            const run_id& run,
                                            std::string_view answer) {
  const auto parts = key_codec::split(place);
  return records::seal(*seals_, place_of_answer(*parts, run), answer);
}

result<void> idempotency_store::seal_old_row(sealer& seals, batch& changes,
                                             std::string_view key,
                                             std::string_view value) {
  const auto parts = key_codec::split(key);
  if (!parts || parts->size() < 2)
    return records::damaged(a_key, "does not read");
  if (is_place(*parts))
    return {}; // done before this was interrupted
  auto e = decode<entry>(value);
  if (!e)
    return e.error();
  const auto place = place_of(
    seals, organization_id{std::string{parts->front()}}, parts->back());
  if (!e->answer.empty()) {
    const auto now = key_codec::split(place);
    auto sealed
      = records::seal(seals, place_of_answer(*now, e->run), e->answer);
    if (!sealed)
      return sealed.error();
    e->answer = std::move(*sealed);
  }
  changes.erase(column::idempotency, std::string{key});
  changes.put(column::idempotency, place, encode(*e));
  return {};
}

result<void> idempotency_store::reseal(const organization_id& organization) {
  const auto versions = seals_->data_key_versions(organization);
  if (versions.size() < 2)
    return {};
  auto anew = [&](batch& changes, auto key, auto value) -> result<void> {
    auto e = decode<entry>(value);
    if (!e)
      return e.error();
    if (e->answer.empty() || records::key_version(e->answer) == versions.back())
      return {};
    const auto parts = key_codec::split(key);
    if (!parts || !is_place(*parts))
      return records::damaged(a_key, "does not read");
    const auto place = place_of_answer(*parts, e->run);
    auto answer = records::unseal(*seals_, place, e->answer, a_key);
    if (!answer)
      return answer.error();
    auto sealed = records::seal(*seals_, place, answer->reveal());
    if (!sealed)
      return sealed.error();
    e->answer = std::move(*sealed);
    changes.put(column::idempotency, std::string{key}, encode(*e));
    return {};
  };
  return records::change_all(*db_, column::idempotency,
                             key_codec::encode(organization), mutex_, anew);
}

result<void>
idempotency_store::erase_organization(const organization_id& organization) {
  std::lock_guard guard{mutex_};
  if (auto recovered = db_->recover(); !recovered)
    return recovered;
  batch changes;
  changes.erase_prefix(column::idempotency, key_codec::encode(organization));
  auto written = db_->write(changes);
  if (written)
    count_.erase(organization.str());
  return written;
}

void idempotency_store::count_less(std::string_view organization) {
  auto i = count_.find(organization);
  if (i != count_.end() && --i->second == 0)
    count_.erase(i); // organizations come and go
}

result<std::size_t> idempotency_store::sweep(timestamp now, std::size_t most) {
  std::lock_guard guard{mutex_};
  if (auto recovered = db_->recover(); !recovered)
    return recovered.error();
  batch changes;
  std::size_t looked = 0;
  std::string next;
  auto scanned = db_->scan(
    column::idempotency, {},
    [&](auto key, auto value) -> result<bool> {
      if (looked++ == most) {
        next = key;
        return false;
      }
      auto e = decode<entry>(value);
      if (!e)
        return e.error();
      if (e->expires_at <= now)
        changes.erase(column::idempotency, std::string{key});
      return true;
    },
    sweep_from_);
  if (!scanned)
    return scanned.error();
  // Losing this to a crash only means sweeping again.
  if (!changes.empty())
    if (auto written = db_->write(changes, durability::buffered); !written)
      return written.error();
  sweep_from_ = std::move(next);
  for (const auto& step : changes.steps())
    count_less(key_codec::split(step.key)->front());
  return changes.steps().size();
}

} // namespace troupe
