#include "storage/sealing/wrapped_key.hpp"

#include "storage/database/key_codec.hpp"
#include "storage/sealing/aead.hpp"

namespace troupe {

namespace {

constexpr std::string_view data_key_word = "data_key";
constexpr std::string_view check_word = "master_check";
constexpr std::string_view retired_word = "master_retired";
constexpr std::string_view check_text = "troupe master key check";
constexpr std::string_view wrapped_format{"\1", 1};

std::string wrap_data(const wrapped_key& w) {
  return length_prefixed({"troupe data key", wrapped_format, w.master,
                          w.organization.str(), key_codec::number(w.version)});
}

std::string check_data(std::string_view master_id) {
  return length_prefixed(
    {"troupe master key check", wrapped_format, master_id});
}

error wrong_key(const key_source& source, std::string_view wanted) {
  return {
    ec::denied,
    "the store is sealed with master key " + std::string{wanted} + ", but "
      + source.origin() + " holds "
      + (source.all().size() == 1 ? "key " + source.first().id : "other keys")
      + "; use the right key. Nothing was written",
    {},
    {}};
}

result<void> check_one(const database& db, const key_source& source,
                       std::string_view id) {
  const auto* master = source.find(id);
  if (!master)
    return wrong_key(source, id);
  auto stored = db.get(column::meta, check_key(id));
  if (!stored)
    return stored.error();
  if (!*stored)
    return error{ec::internal,
                 "the store has no check value for master key "
                   + std::string{id} + "; it is damaged, restore a backup",
                 {},
                 {}};
  auto text
    = aead{master->bytes, system_random()}.open(**stored, check_data(id));
  if (!text || text->reveal() != check_text)
    return wrong_key(source, id);
  return {};
}

} // namespace

// -- a wrapped key ------------------------------------------------------------

std::string wrapped_key::key() const {
  return key_codec::encode(organization,
                           {data_key_word, key_codec::number(version)});
}

std::string wrapped_key::value() const {
  return key_codec::encode({wrapped_format, master, text});
}

result<wrapped_key> wrap(const key_bytes& key, const master_key& master,
                         const organization_id& organization,
                         std::uint32_t version, const random_source& random) {
  wrapped_key w{organization, version, master.id, {}};
  auto text = aead{master.bytes, random}.seal(key.view(), wrap_data(w));
  if (!text)
    return text.error();
  w.text = std::move(*text);
  return w;
}

result<key_bytes> unwrap(const wrapped_key& wrapped, const master_key& master) {
  auto key = aead{master.bytes, system_random()}.open(wrapped.text,
                                                      wrap_data(wrapped));
  if (!key)
    return key.error().within("the data key of " + wrapped.organization.str());
  return key_bytes::from(key->reveal());
}

result<void>
each_wrapped_key(const database& db,
                 const std::function<result<void>(wrapped_key)>& take) {
  return db.scan(column::meta, {}, [&](auto key, auto value) -> result<bool> {
    auto place = key_codec::split(key);
    if (!place)
      return place.error();
    if (place->size() != 3 || (*place)[1] != data_key_word)
      return true;
    auto version = key_codec::read_number((*place)[2]);
    auto parts = key_codec::split(value);
    if (!version)
      return version.error();
    if (!parts)
      return parts.error();
    if (parts->size() != 3 || (*parts)[0] != wrapped_format)
      return error{ec::internal, "a wrapped key has an unknown format", {}, {}};
    auto taken = take({organization_id{std::string{(*place)[0]}},
                       static_cast<std::uint32_t>(*version),
                       std::string{(*parts)[1]}, std::string{(*parts)[2]}});
    if (!taken)
      return taken.error();
    return true;
  });
}

// -- master keys --------------------------------------------------------------

namespace meta_keys {

std::string master_current() {
  return key_codec::encode_global({"master_current"});
}
std::string master_next() {
  return key_codec::encode_global({"master_next"});
}
std::string master_retired(std::string_view id) {
  return key_codec::encode_global({retired_word, id});
}
std::string data_keys(const organization_id& organization) {
  return key_codec::encode(organization, {data_key_word});
}

} // namespace meta_keys

std::string check_key(std::string_view master_id) {
  return key_codec::encode_global({check_word, master_id});
}

result<std::string> make_check(const master_key& master,
                               const random_source& random) {
  return aead{master.bytes, random}.seal(check_text, check_data(master.id));
}

result<master_record> read_master_record(const database& db) {
  auto current = db.get(column::meta, meta_keys::master_current());
  if (!current)
    return current.error();
  auto next = db.get(column::meta, meta_keys::master_next());
  if (!next)
    return next.error();
  master_record record{current->value_or(""), next->value_or(""), {}};
  auto scanned = db.scan(column::meta, key_codec::encode_global({retired_word}),
                         [&](auto key, auto) -> result<bool> {
                           auto place = key_codec::split(key);
                           if (!place)
                             return place.error();
                           record.retired.emplace_back(place->back());
                           return true;
                         });
  if (!scanned)
    return scanned.error();
  return record;
}

result<void> check_master_keys(const database& db, const key_source& source) {
  auto record = read_master_record(db);
  if (!record)
    return record.error();
  if (record->current.empty())
    return {};
  if (auto checked = check_one(db, source, record->current); !checked)
    return checked;
  if (!record->next.empty())
    if (auto checked = check_one(db, source, record->next); !checked)
      return checked.error().within(
        "a rotation is in progress, both keys are required");
  return {};
}

} // namespace troupe
