#include "runtime/packages/environment_service.hpp"

#include "runtime/packages/backend_with_packages.hpp"

#include <algorithm>

namespace troupe {

namespace {

// Failures of all organizations that are still told; a line or two each, and
// up to 4 KiB of an installer's output.
constexpr std::size_t kept_failures = 500;

} // namespace

/// Whoever waits holds the builder's answer only; the record is made from what
/// is true then.
environment_waiter environment_service::waiter_for(const key& k,
                                                   environment_watch watch) {
  environment_waiter waiter;
  waiter.progress = std::move(watch.progress);
  waiter.finished
    = [self = shared_from_this(), k,
       told = std::move(watch.finished)](result<environment_lease_ptr> ended) {
        self->note(k, ended);
        if (!told)
          return;
        if (ended) {
          if (auto found = self->find(k.first, k.second))
            return told(*found);
        }
        environment_record gone;
        gone.fingerprint = k.second;
        gone.state = environment_state::failed;
        gone.failure = std::make_shared<const error>(
          ended ? error{ec::unavailable, "it was deleted at once", {}, {}}
                : ended.error());
        told(gone);
      };
  return waiter;
}

void environment_service::note(const key& k,
                               const result<environment_lease_ptr>& ended) {
  std::lock_guard guard{mutex_};
  failures_.erase(k);
  std::erase(failed_, k);
  if (ended)
    return;
  failures_[k] = std::make_shared<const error>(ended.error());
  failed_.push_back(k);
  if (failed_.size() > kept_failures) {
    failures_.erase(failed_.front());
    failed_.pop_front();
  }
}

std::string environment_service::build(const organization_id& organization,
                                       environment_request wish,
                                       environment_watch watch) {
  auto spec = spec_of(organization, std::move(wish.pip), std::move(wish.npm),
                      builder_->options());
  key k{organization, environment_fingerprint(spec)};
  auto waiter = waiter_for(k, std::move(watch));
  if (!wish.afresh) {
    builder_->acquire(std::move(spec), std::move(waiter));
    return k.second;
  }
  builder_->renew(std::move(spec), std::move(waiter));
  return k.second;
}

result<void> environment_service::watch(const organization_id& organization,
                                        const std::string& fingerprint,
                                        environment_watch watch) {
  key k{organization, fingerprint};
  // Joined first: a build that ends in between is then found below.
  auto shared = std::make_shared<environment_watch>(std::move(watch));
  environment_watch through;
  through.progress = shared->progress;
  through.finished = shared->finished;
  if (builder_->join(k, waiter_for(k, std::move(through))))
    return {};
  auto found = find(organization, fingerprint);
  if (!found)
    return error{ec::not_found, "no such package set", {}, {}};
  if (found->state == environment_state::building) // began just now
    return error{ec::conflict, "its build is starting; try again", {}, {}};
  shared->finished(*found);
  return {};
}

std::map<std::string, environment_record>
environment_service::all_of(const organization_id& organization) const {
  std::map<std::string, environment_record> all;
  {
    std::lock_guard guard{mutex_};
    for (auto i = failures_.lower_bound({organization, {}});
         i != failures_.end() && i->first.first == organization; ++i) {
      auto& r = all[i->first.second];
      r.state = environment_state::failed;
      r.failure = i->second;
    }
  }
  for (auto& info : builder_->list(organization)) {
    auto& r = all[info.fingerprint] = {};
    r.state = environment_state::ready;
    r.packages = std::move(info.packages);
    r.bytes = info.bytes;
    r.built_at = info.built_at;
    r.used_at = info.used_at;
  }
  for (auto& [fingerprint, line] : builder_->under_way(organization)) {
    auto& r = all[fingerprint] = {};
    r.progress = std::move(line);
  }
  for (auto& [fingerprint, r] : all)
    r.fingerprint = fingerprint;
  return all;
}

std::optional<environment_record>
environment_service::find(const organization_id& organization,
                          const std::string& fingerprint) const {
  auto all = all_of(organization);
  auto i = all.find(fingerprint);
  return i == all.end() ? std::nullopt : std::optional{std::move(i->second)};
}

std::vector<environment_record>
environment_service::list(const organization_id& organization) const {
  std::vector<environment_record> out;
  for (auto& [fingerprint, r] : all_of(organization))
    out.push_back(std::move(r));
  return out;
}

void environment_service::remove(const organization_id& organization,
                                 const std::string& fingerprint,
                                 std::function<void(result<void>)> done) {
  key k{organization, fingerprint};
  auto found = find(organization, fingerprint);
  if (found && found->state == environment_state::building)
    return done(error{ec::conflict,
                      "the package set is being built; wait until it is ready",
                      {},
                      {}});
  if (found && found->state == environment_state::failed) {
    std::lock_guard guard{mutex_};
    failures_.erase(k);
    std::erase(failed_, k);
  } else if (found) {
    return builder_->forget(organization, fingerprint, std::move(done));
  }
  if (!found)
    return done(error{ec::not_found, "no such package set", {}, {}});
  done({});
}

} // namespace troupe
