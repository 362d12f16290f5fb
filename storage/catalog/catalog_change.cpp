#include "storage/catalog/catalog_change.hpp"

#include "storage/database/key_codec.hpp"

#include <algorithm>

namespace troupe {

catalog_edit::catalog_edit(const catalog& base, const catalog_tables& tables,
                           sealer& seals, const catalog_options& options,
                           author who, timestamp now)
    : base_{base}, tables_{tables}, seals_{seals}, options_{options},
      who_{std::move(who)}, now_{now} {}

const organization_catalog& catalog_edit::current() const {
  static const organization_catalog nothing;
  if (writable_)
    return *writable_;
  const auto* found = base_.find(who_.organization);
  return found ? *found : nothing;
}

organization_catalog& catalog_edit::writable() {
  if (!writable_) {
    writable_ = std::make_shared<organization_catalog>(current());
    writable_->id = who_.organization;
  }
  return *writable_;
}

std::shared_ptr<catalog> catalog_edit::finish() {
  if (!next_)
    next_ = std::make_shared<catalog>(base_);
  if (writable_)
    next_->organizations[who_.organization] = writable_;
  ++next_->version;
  batch_.put(column::meta, catalog_version_key(),
             key_codec::number(next_->version));
  return next_;
}

result<change_reply> catalog_edit::operator()(const delete_organization& c) {
  auto has_a_key
    = [&](const auto& entry) { return entry.second->organization == c.id; };
  if (!base_.find(c.id) && std::ranges::none_of(base_.keys_by_hash, has_a_key))
    return not_found_error("organization", c.id.str());
  who_.organization = c.id;
  erase_everything();
  return change_reply{};
}

void catalog_edit::erase_everything() {
  auto prefix = key_codec::encode(who_.organization);
  // The last four hold what opens with the organization's keys only, and
  // these go as well.
  for (auto where :
       {column::tools, column::configs, column::variables,
        column::agent_variables, column::keys, column::runs, column::run_index,
        column::idempotency, column::living_sandboxes})
    batch_.erase_prefix(where, prefix);
  next_ = std::make_shared<catalog>(base_);
  writable_.reset();
  next_->organizations.erase(who_.organization);
  for (const auto& [hash, key] : base_.keys_by_hash)
    if (key->organization == who_.organization)
      next_->keys_by_hash.erase(hash);
}

// -- replies ------------------------------------------------------------------

change_reply reply_for(std::shared_ptr<const tool> t, bool created) {
  change_reply reply;
  reply.created = created;
  reply.tool = std::move(t);
  return reply;
}

change_reply reply_for(std::shared_ptr<const sandbox_config> c, bool created) {
  change_reply reply;
  reply.created = created;
  reply.config = std::move(c);
  return reply;
}

change_reply reply_for(std::shared_ptr<const sealed_variable> v, bool created) {
  change_reply reply;
  reply.created = created;
  reply.variable = std::move(v);
  return reply;
}

change_reply reply_for(std::shared_ptr<const api_key> k, bool created) {
  change_reply reply;
  reply.created = created;
  reply.key = std::move(k);
  return reply;
}

// -- errors -------------------------------------------------------------------

error not_found_error(std::string_view what, std::string_view id) {
  return {ec::not_found,
          "there is no " + std::string{what} + " '"
            + std::string{id.substr(0, 128)} + "'",
          {},
          {}};
}

error too_many(std::string_view what, std::size_t limit) {
  return {ec::exhausted,
          "the limit of " + std::to_string(limit) + " " + std::string{what}
            + " is reached; delete some first",
          {},
          {}};
}

result<void> check_revision(std::uint64_t is,
                            const std::optional<std::uint64_t>& expected) {
  if (!expected || *expected == is)
    return {};
  auto reason = "is " + (is == 0 ? std::string{"none"} : std::to_string(is))
    + ", not " + std::to_string(*expected);
  return error{ec::conflict,
               "the revision " + reason
                 + ": it was changed in the meantime; read it again",
               {{std::string{revision_pointer}, reason, {}}},
               {}};
}

std::string catalog_version_key() {
  return key_codec::encode_global({"catalog_version"});
}

} // namespace troupe
