#include "storage/catalog/catalog_store.hpp"

#include "storage/catalog/catalog_change.hpp"
#include "storage/catalog/catalog_load.hpp"

namespace troupe {

namespace {

// Changes wait while a batch of values is sealed anew: keep it short.
constexpr std::size_t values_per_batch = 64;

template <class Sealed>
bool is_stale(const Sealed& v, std::uint32_t newest) {
  auto header = read_sealed_header(v.sealed);
  return !header || header->key_version != newest;
}

/// Calls `visit` with every sealed value of an organization until it says no.
template <class Visitor>
void each_value(const organization_catalog& org, Visitor visit) {
  for (const auto& [id, v] : org.variables_by_id)
    if (!visit(*v))
      return;
  for (const auto& [agent, variables] : org.agent_variables)
    for (const auto& [key, v] : variables)
      if (!visit(*v))
        return;
}

} // namespace

catalog_store::catalog_store(std::shared_ptr<database> db,
                             std::shared_ptr<sealer> seals,
                             catalog_options options)
    : db_{db}, seals_{std::move(seals)}, tables_{db}, options_{
                                                        std::move(options)} {}

result<std::unique_ptr<catalog_store>>
catalog_store::open(std::shared_ptr<database> db, std::shared_ptr<sealer> seals,
                    catalog_options options) {
  std::unique_ptr<catalog_store> made{
    new catalog_store{std::move(db), std::move(seals), std::move(options)}};
  if (auto loaded = made->reload(); !loaded)
    return loaded.error();
  return made;
}

// -- changing -----------------------------------------------------------------

result<void> catalog_store::reload() {
  auto generation = db_->generation();
  auto loaded = load_catalog(*db_, tables_);
  if (!loaded)
    return loaded.error();
  // Readers may have seen a higher number, of a change that was then lost.
  if (auto before = current(); before && before->version > (*loaded)->version)
    (*loaded)->version = before->version;
  generation_ = generation;
  current_.store(*loaded);
  return {};
}

result<void> catalog_store::ready() {
  if (auto recovered = db_->recover(); !recovered)
    return recovered;
  if (db_->generation() != generation_)
    return reload();
  return {};
}

result<change_reply> catalog_store::apply(const author& who,
                                          const catalog_change& what,
                                          timestamp now,
                                          const committer& commit) {
  if (who.organization.empty())
    return error{
      ec::denied, "a change is made on behalf of an organization", {}, {}};
  std::lock_guard guard{changing_};
  if (auto fit = ready(); !fit)
    return fit.error();
  auto base = current();
  catalog_edit edit{*base, tables_, *seals_, options_, who, now};
  auto reply = std::visit(edit, what);
  if (!reply || edit.is_empty())
    return reply;
  auto next = edit.finish();
  auto written = commit ? commit(edit.changes()) : db_->write(edit.changes());
  if (!written)
    return written.error();
  current_.store(std::move(next));
  if (auto* gone = std::get_if<delete_organization>(&what))
    if (auto forgotten = seals_->forget(gone->id); !forgotten)
      return forgotten.error();
  return reply;
}

// -- keys and tenants ---------------------------------------------------------

result<void> catalog_store::rotate_data_key(const organization_id& organization,
                                            const progress_sink& tell) {
  if (auto renewed = seals_->renew_data_key(organization); !renewed)
    return renewed.error();
  if (tell)
    tell({"renewed", 0, stale_values(organization)});
  return finish_rotation(organization, tell);
}

result<void> catalog_store::resume_rotations(const progress_sink& tell) {
  for (const auto& organization : seals_->unfinished_renewals())
    if (auto finished = finish_rotation(organization, tell); !finished)
      return finished;
  return {};
}

result<void> catalog_store::finish_rotation(const organization_id& organization,
                                            const progress_sink& tell) {
  auto total = stale_values(organization);
  for (;;) {
    auto left = reseal_some(organization);
    if (!left)
      return left.error();
    if (tell)
      tell({"resealed", total - std::min(*left, total), total});
    if (*left == 0)
      break;
  }
  // Those before the newest of now: another rotation may begin meanwhile, and
  // then records are sealed with the one that is the newest now.
  auto versions = seals_->data_key_versions(organization);
  if (versions.size() < 2)
    return {};
  versions.pop_back();
  if (before_retiring_)
    if (auto done = before_retiring_(organization); !done)
      return done;
  std::unique_lock guard{changing_}; // nothing may be sealed with it meanwhile
  if (stale_values(organization) != 0)
    return error{
      ec::conflict,
      "a newer rotation of this key is in progress and will finish this one",
      {},
      {}};
  for (auto version : versions)
    if (auto retired = seals_->retire_data_key(organization, version); !retired)
      return retired;
  guard.unlock();
  if (tell)
    tell({"retired", total, total});
  return {};
}

result<std::size_t>
catalog_store::reseal_some(const organization_id& organization) {
  std::lock_guard guard{changing_};
  if (auto fit = ready(); !fit)
    return fit.error();
  auto base = current();
  const auto* org = base->find(organization);
  auto versions = seals_->data_key_versions(organization);
  if (!org || versions.empty())
    return std::size_t{0};
  catalog_edit edit{*base, tables_, *seals_, options_, {organization, {}}, {}};
  std::size_t count = 0;
  result<void> resealed;
  each_value(*org, [&](const auto& v) {
    if (is_stale(v, versions.back())) {
      resealed = edit.reseal(v);
      ++count;
    }
    return resealed && count < values_per_batch;
  });
  if (!resealed)
    return resealed.error();
  if (!edit.is_empty()) {
    auto next = edit.finish();
    if (auto written = db_->write(edit.changes()); !written)
      return written.error();
    current_.store(std::move(next));
  }
  return stale_values(organization);
}

std::size_t
catalog_store::stale_values(const organization_id& organization) const {
  auto base = current();
  const auto* org = base->find(organization);
  auto versions = seals_->data_key_versions(organization);
  if (!org || versions.empty())
    return 0;
  std::size_t count = 0;
  each_value(*org, [&](const auto& v) {
    count += is_stale(v, versions.back());
    return true;
  });
  return count;
}

result<void>
catalog_store::erase_organization(const organization_id& organization) {
  std::lock_guard guard{changing_};
  if (auto fit = ready(); !fit)
    return fit;
  auto base = current();
  catalog_edit edit{*base, tables_, *seals_, options_, {organization, {}}, {}};
  edit.erase_everything();
  auto next = edit.finish();
  if (auto written = db_->write(edit.changes()); !written)
    return written;
  current_.store(std::move(next));
  return seals_->forget(organization);
}

result<void> catalog_store::verify() const {
  auto base = current();
  result<void> verified;
  for (const auto& [id, org] : base->organizations)
    each_value(*org, [&](const auto& v) {
      auto value = seals_->open(v);
      if (!value)
        verified = value.error().within("variable " + v.about.id.str());
      return verified.has_value();
    });
  return verified;
}

} // namespace troupe
