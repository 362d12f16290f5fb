#pragma once

#include "storage/database/cursor.hpp"
#include "storage/database/key_codec.hpp"
#include "storage/records/record_format.hpp"
#include "storage/records/typed_store.hpp"

/// INTERNAL to the typed stores' source files, which instantiate it once.
namespace troupe {

template <class Kind>
void typed_store<Kind>::put(batch& changes, const record& r) const {
  changes.put(Kind::where, Kind::key(r), Kind::encode(r));
}

template <class Kind>
void typed_store<Kind>::erase(batch& changes, const record& r) const {
  changes.erase(Kind::where, Kind::key(r));
}

// A record that lies under another one's key was not put there by the engine.
template <class Kind>
auto typed_store<Kind>::read(std::string_view key, std::string_view value)
  -> result<record> {
  auto r = Kind::decode(value);
  if (r && Kind::key(*r) != key)
    return records::damaged(Kind::name, "is stored under a wrong key");
  return r;
}

template <class Kind>
auto typed_store<Kind>::find(const organization_id& organization,
                             std::initializer_list<std::string_view> rest) const
  -> result<std::optional<record>> {
  auto key = key_codec::encode(organization, rest);
  auto value = db_->get(Kind::where, key);
  if (!value)
    return value.error();
  if (!*value)
    return std::optional<record>{};
  auto r = read(key, **value);
  if (!r)
    return r.error();
  return std::optional{std::move(*r)};
}

template <class Kind>
auto typed_store<Kind>::list(const organization_id& organization,
                             std::string_view after, std::size_t limit) const
  -> result<page<record>> {
  auto prefix = key_codec::encode(organization);
  auto from = cursor::begin(prefix, after);
  if (!from)
    return from.error();
  page<record> found;
  std::string last;
  auto scanned = db_->scan(
    Kind::where, prefix,
    [&](auto key, auto value) -> result<bool> {
      if (found.items.size() == limit) {
        found.next = cursor::encode(prefix, last);
        return false;
      }
      auto r = read(key, value);
      if (!r)
        return r.error();
      found.items.push_back(std::move(*r));
      last = key;
      return true;
    },
    *from);
  if (!scanned)
    return scanned.error();
  return found;
}

template <class Kind>
result<void>
typed_store<Kind>::each(const std::function<result<void>(record)>& take) const {
  return db_->scan(Kind::where, {}, [&](auto key, auto value) -> result<bool> {
    auto r = read(key, value);
    if (!r)
      return r.error();
    auto taken = take(std::move(*r));
    if (!taken)
      return taken.error();
    return true;
  });
}

} // namespace troupe
