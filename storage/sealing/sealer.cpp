#include "storage/sealing/sealer.hpp"

#include "runtime/base/digest.hpp"

#include <span>

namespace troupe {

namespace {

// Records are replaced as a whole, and nobody counts how often.
constexpr std::uint64_t record_text_version = 1;

sealed_place place_of(const sealed_variable& v) {
  return {v.about.organization, sealed_kind::config_variable,
          v.about.config.str(), v.about.key};
}

sealed_place place_of(const sealed_agent_variable& v) {
  return {v.about.organization, sealed_kind::agent_variable, v.about.agent_id,
          v.about.key};
}

} // namespace

// -- open ---------------------------------------------------------------------

sealer::sealer(std::shared_ptr<database> db, key_source source,
               random_source random)
    : db_{std::move(db)}, random_{std::move(random)}, source_{
                                                        std::move(source)} {}

result<std::shared_ptr<sealer>> sealer::open(std::shared_ptr<database> db,
                                             key_source source,
                                             random_source random) {
  if (auto checked = check_master_keys(*db, source); !checked)
    return checked.error();
  auto record = read_master_record(*db);
  if (!record)
    return record.error();
  std::shared_ptr<sealer> made{
    new sealer{std::move(db), std::move(source), std::move(random)}};
  if (record->current.empty())
    if (auto begun = made->begin(); !begun)
      return begun.error();
  made->wrapping_ = !record->next.empty() ? record->next
    : !record->current.empty()            ? record->current
                                          : made->source_.first().id;
  if (auto loaded = made->load(); !loaded)
    return loaded.error();
  if (auto resumed = made->resume_rotation(); !resumed)
    return resumed.error();
  return made;
}

result<std::shared_ptr<sealer>>
sealer::open_to_read(std::shared_ptr<database> db, key_source source) {
  if (auto checked = check_master_keys(*db, source); !checked)
    return checked.error();
  std::shared_ptr<sealer> made{
    new sealer{std::move(db), std::move(source), system_random()}};
  if (auto loaded = made->load(); !loaded)
    return loaded.error();
  return made;
}

// A store's first start: the master key in use, its check value and the
// digest key, at once or not at all.
result<void> sealer::begin() {
  const auto& master = source_.first();
  auto check = make_check(master, random_);
  if (!check)
    return check.error();
  auto digest_key = key_bytes::random(random_);
  if (!digest_key)
    return digest_key.error();
  auto wrapped = wrap(*digest_key, master, {}, 1, random_);
  if (!wrapped)
    return wrapped.error();
  batch b;
  b.put(column::meta, check_key(master.id), *check);
  b.put(column::meta, meta_keys::master_current(), master.id);
  b.put(column::meta, wrapped->key(), wrapped->value());
  return db_->write(b);
}

result<void> sealer::load() {
  bool has_digest_key = false;
  auto loaded = each_wrapped_key(*db_, [&](wrapped_key w) -> result<void> {
    const auto* master = source_.find(w.master);
    if (!master)
      return error{ec::denied,
                   "a key of " + w.organization.str()
                     + " is wrapped with master key " + w.master
                     + ", which is not in " + source_.origin(),
                   {},
                   {}};
    auto key = unwrap(w, *master);
    if (!key)
      return key.error();
    if (w.organization.empty()) {
      digest_key_ = std::move(*key);
      has_digest_key = true;
    } else {
      keys_[w.organization][w.version]
        = std::make_shared<const data_key>(*key, random_);
    }
    return {};
  });
  if (!loaded)
    return loaded;
  if (!has_digest_key)
    return error{ec::internal,
                 "the store has lost its digest key; it is damaged, restore a "
                 "backup",
                 {},
                 {}};
  return {};
}

// -- values -------------------------------------------------------------------

auto sealer::find(const organization_id& organization,
                  std::uint32_t version) const -> data_key_ptr {
  std::shared_lock guard{keys_mutex_};
  for (const auto* ring : {&keys_, &retired_})
    if (auto i = ring->find(organization); i != ring->end())
      if (auto key = i->second.find(version); key != i->second.end())
        return key->second;
  return nullptr;
}

auto sealer::sealing_key(const organization_id& organization)
  -> result<std::pair<std::uint32_t, data_key_ptr>> {
  if (organization.empty())
    return error{
      ec::internal, "a sealed value belongs to an organization", {}, {}};
  {
    std::shared_lock guard{keys_mutex_};
    if (auto i = keys_.find(organization); i != keys_.end())
      return *i->second.rbegin();
  }
  std::unique_lock guard{keys_mutex_};
  if (auto i = keys_.find(organization); i != keys_.end())
    return *i->second.rbegin();
  auto made = make_data_key(organization, 1);
  if (!made)
    return made.error();
  return std::pair{std::uint32_t{1}, *made};
}

// Durable before anything is sealed with it.
auto sealer::make_data_key(const organization_id& organization,
                           std::uint32_t version) -> result<data_key_ptr> {
  auto key = key_bytes::random(random_);
  if (!key)
    return key.error();
  auto wrapped
    = wrap(*key, *source_.find(wrapping_), organization, version, random_);
  if (!wrapped)
    return wrapped.error();
  batch b;
  b.put(column::meta, wrapped->key(), wrapped->value());
  if (auto written = db_->write(b); !written)
    return written.error();
  auto made = std::make_shared<const data_key>(*key, random_);
  keys_[organization][version] = made;
  return made;
}

template <class Cipher>
result<std::string>
sealer::seal_with(Cipher data_key::*cipher, const sealed_place& place,
                  std::string_view text, std::uint64_t record_version) {
  auto key = sealing_key(place.organization);
  if (!key)
    return key.error();
  const sealed_header header{key->first, record_version};
  auto sealed
    = ((*key->second).*cipher).seal(text, associated_data(place, header));
  if (!sealed)
    return sealed.error();
  return to_bytes(header) + *sealed;
}

template <class Cipher>
result<secret> sealer::open_with(Cipher data_key::*cipher,
                                 const sealed_place& place,
                                 std::string_view sealed) const {
  auto header = read_sealed_header(sealed);
  if (!header)
    return header.error();
  auto key = key_of(place.organization, *header);
  if (!key)
    return key.error();
  return ((**key).*cipher)
    .open(sealed.substr(sealed_header_bytes), associated_data(place, *header));
}

result<std::string> sealer::seal(const sealed_place& place, const secret& value,
                                 std::uint64_t record_version) {
  return seal_with(&data_key::values, place, value.reveal(), record_version);
}

result<secret> sealer::open(const sealed_place& place,
                            std::string_view sealed) const {
  return open_with(&data_key::values, place, sealed);
}

result<std::string> sealer::seal_record(const sealed_place& place,
                                        std::string_view text) {
  return seal_with(&data_key::records, place, text, record_text_version);
}

result<secret> sealer::open_record(const sealed_place& place,
                                   std::string_view sealed) const {
  return open_with(&data_key::records, place, sealed);
}

auto sealer::key_of(const organization_id& organization,
                    const sealed_header& header) const -> result<data_key_ptr> {
  auto key = find(organization, header.key_version);
  if (!key)
    return error{ec::denied,
                 "a sealed value needs version "
                   + std::to_string(header.key_version)
                   + " of its organization's key, which is gone",
                 {},
                 {}};
  return key;
}

result<secret> sealer::open(const sealed_variable& v) const {
  return open(place_of(v), v.sealed);
}

result<secret> sealer::open(const sealed_agent_variable& v) const {
  return open(place_of(v), v.sealed);
}

std::string sealer::digest(const organization_id& organization,
                           std::string_view purpose,
                           std::string_view text) const {
  auto whole = length_prefixed({organization.str(), purpose, text});
  auto mac = hmac(digest_key_, whole);
  wipe(whole.data(), whole.size());
  return hex(
    std::span{reinterpret_cast<const std::uint8_t*>(mac.data()), mac.size()});
}

// -- the keys of an organization ----------------------------------------------

result<std::uint32_t>
sealer::renew_data_key(const organization_id& organization) {
  std::unique_lock guard{keys_mutex_};
  auto i = keys_.find(organization);
  auto version = i == keys_.end() ? 1 : i->second.rbegin()->first + 1;
  auto made = make_data_key(organization, version);
  if (!made)
    return made.error();
  return version;
}

std::vector<std::uint32_t>
sealer::data_key_versions(const organization_id& organization) const {
  std::shared_lock guard{keys_mutex_};
  std::vector<std::uint32_t> all;
  if (auto i = keys_.find(organization); i != keys_.end())
    for (const auto& [version, key] : i->second)
      all.push_back(version);
  return all;
}

std::vector<organization_id> sealer::unfinished_renewals() const {
  std::shared_lock guard{keys_mutex_};
  std::vector<organization_id> all;
  for (const auto& [organization, versions] : keys_)
    if (versions.size() > 1)
      all.push_back(organization);
  return all;
}

result<void> sealer::retire_data_key(const organization_id& organization,
                                     std::uint32_t version) {
  std::unique_lock guard{keys_mutex_};
  auto i = keys_.find(organization);
  if (i == keys_.end() || !i->second.contains(version))
    return {};
  if (i->second.rbegin()->first == version)
    return error{ec::conflict, "the newest version of a key is in use", {}, {}};
  // Its bytes alone, wrapped, are erased from the files as well.
  wrapped_key old{organization, version, {}, {}};
  if (auto purged = db_->purge(column::meta, old.key()); !purged)
    return purged;
  retired_[organization].insert(i->second.extract(version));
  return {};
}

result<void> sealer::forget(const organization_id& organization) {
  std::unique_lock guard{keys_mutex_};
  if (organization.empty())
    return error{ec::internal, "no organization is named", {}, {}};
  if (auto purged
      = db_->purge(column::meta, meta_keys::data_keys(organization));
      !purged)
    return purged;
  keys_.erase(organization);
  retired_.erase(organization);
  return {};
}

} // namespace troupe
