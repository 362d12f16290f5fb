// Changes of API keys: a hash is unique in the whole store.
#include "storage/catalog/catalog_change.hpp"

#include <algorithm>

namespace troupe {

result<change_reply> catalog_edit::operator()(const put_key& c) {
  auto k = c.value;
  // An administrator makes keys for other organizations, too.
  if (k.organization.empty())
    k.organization = who_.organization;
  if (k.hash.empty())
    return error{ec::internal, "an API key is kept as its hash", {}, {}};
  if (k.name.size() > options_.limits.name_bytes)
    return bad_field("/name",
                     "is longer than "
                       + std::to_string(options_.limits.name_bytes) + " bytes");
  if (base_.keys_by_hash.contains(k.hash))
    return error{ec::conflict, "this API key exists already", {}, {}};
  std::size_t count = 0;
  for (const auto& [hash, other] : base_.keys_by_hash) {
    if (other->organization != k.organization)
      continue;
    if (other->id == k.id)
      return error{
        ec::conflict, "an API key with id '" + k.id.str() + "' exists", {}, {}};
    ++count;
  }
  if (count >= options_.limits.keys)
    return too_many("API keys", options_.limits.keys);
  if (k.id.empty())
    k.id = key_id::make();
  k.created_at = now_;
  tables_.keys.put(batch_, k);
  next_ = std::make_shared<catalog>(base_);
  auto kept = std::make_shared<const api_key>(std::move(k));
  next_->keys_by_hash[kept->hash] = kept;
  return reply_for(kept, true);
}

result<change_reply> catalog_edit::operator()(const delete_key& c) {
  auto place
    = std::find_if(base_.keys_by_hash.begin(), base_.keys_by_hash.end(),
                   [&](const auto& entry) {
                     return entry.second->id == c.id
                       && entry.second->organization == who_.organization;
                   });
  if (place == base_.keys_by_hash.end())
    return not_found_error("API key", c.id.str());
  auto old = place->second;
  tables_.keys.erase(batch_, *old);
  next_ = std::make_shared<catalog>(base_);
  next_->keys_by_hash.erase(old->hash);
  return reply_for(old);
}

} // namespace troupe
