#include "storage/records/sandbox_record_store.hpp"

#include "storage/database/key_codec.hpp"
#include "storage/records/record_format.hpp"
#include "storage/records/sealed_record.hpp"

namespace troupe {

namespace {

constexpr std::string_view a_sandbox = "sandbox";

std::string row_of(const organization_id& organization, const std::string& id) {
  return key_codec::encode(organization, {id});
}

sealed_place place_of_sandbox(const organization_id& organization,
                              std::string_view id) {
  return {organization, sealed_kind::sandbox, std::string{id}, {}};
}

result<stored_sandbox> read_sandbox(const sealer& seals, std::string_view key,
                                    std::string_view bytes) {
  const auto parts = key_codec::split(key);
  if (!parts || parts->size() != 2)
    return records::damaged(a_sandbox, "has a key of another form");
  const organization_id organization{std::string{(*parts)[0]}};
  auto text = records::unseal(
    seals, place_of_sandbox(organization, (*parts)[1]), bytes, a_sandbox);
  if (!text)
    return text.error();
  return decode_sandbox(text->reveal());
}

} // namespace

result<void> sandbox_record_store::put(const stored_sandbox& what,
                                       bool synced) {
  const auto& r = what.record;
  auto sealed
    = records::seal(*seals_, place_of_sandbox(r.organization, r.id.str()),
                    encode_sandbox(what));
  if (!sealed)
    return sealed.error();
  std::lock_guard guard{mutex_};
  if (auto recovered = db_->recover(); !recovered)
    return recovered;
  batch changes;
  changes.put(column::living_sandboxes, row_of(r.organization, r.id.str()),
              std::move(*sealed));
  return db_->write(changes,
                    synced ? durability::synced : durability::buffered);
}

result<void> sandbox_record_store::erase(const organization_id& organization,
                                         const sandbox_id& id) {
  std::lock_guard guard{mutex_};
  if (auto recovered = db_->recover(); !recovered)
    return recovered;
  batch changes;
  changes.erase(column::living_sandboxes, row_of(organization, id.str()));
  return db_->write(changes, durability::buffered);
}

result<std::vector<stored_sandbox>>
sandbox_record_store::load(std::size_t& unreadable) {
  std::vector<std::pair<std::string, std::string>> rows;
  auto scanned = db_->scan(column::living_sandboxes, {},
                           [&rows](auto key, auto value) -> result<bool> {
                             rows.emplace_back(key, value);
                             return true;
                           });
  if (!scanned)
    return scanned.error();
  std::vector<stored_sandbox> all;
  unreadable = 0;
  for (const auto& [key, value] : rows)
    if (auto one = read_sandbox(*seals_, key, value))
      all.push_back(std::move(*one));
    else
      ++unreadable;
  return all;
}

result<void> sandbox_record_store::reseal(const organization_id& organization) {
  const auto versions = seals_->data_key_versions(organization);
  if (versions.size() < 2)
    return {};
  auto anew = [&](batch& changes, auto key, auto value) -> result<void> {
    if (records::key_version(value) == versions.back())
      return {};
    const auto parts = key_codec::split(key);
    if (!parts || parts->size() != 2)
      return records::damaged(a_sandbox, "has a key of another form");
    const auto place = place_of_sandbox(organization, (*parts)[1]);
    auto text = records::unseal(*seals_, place, value, a_sandbox);
    if (!text)
      return text.error();
    auto sealed = records::seal(*seals_, place, text->reveal());
    if (!sealed)
      return sealed.error();
    changes.put(column::living_sandboxes, std::string{key}, std::move(*sealed));
    return {};
  };
  return records::change_all(*db_, column::living_sandboxes,
                             key_codec::encode(organization), mutex_, anew);
}

} // namespace troupe
