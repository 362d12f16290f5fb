#include "actors/config/schema_cache.hpp"

#include "runtime/base/digest.hpp"

namespace troupe {

namespace {

constexpr auto keep_for = std::chrono::hours{24};
constexpr std::size_t kept = 4'096;              // schemas
constexpr std::size_t longest_source = 1u << 20; // bytes

/// Lengths first, so that no two questions spell the same text.
std::string key_of(language lang, const std::string& source,
                   const std::string& function) {
  return hex(sha256(std::to_string(static_cast<int>(lang)) + ":"
                    + std::to_string(function.size()) + ":" + function
                    + source));
}

error too_many() {
  return {ec::exhausted,
          "this organization has too many schema derivations or runs in "
          "progress; try again later",
          {},
          std::chrono::milliseconds{1'000}};
}

} // namespace

schema_cache::schema_cache(std::shared_ptr<schema_deriver> who,
                           derivation_rules rules, places among_runs)
    : who_{std::move(who)}, rules_{rules}, places_{std::move(among_runs)},
      known_{keep_for, kept} {}

void schema_cache::derive(const organization_id& organization, language lang,
                          std::string source, std::string function,
                          handler<derived_schema> done) {
  if (!who_)
    return done(error{ec::unavailable,
                      "this engine cannot derive schemas: it has no local "
                      "backend; send a json_schema",
                      {},
                      {}});
  if (source.size() > longest_source)
    return done(
      bad_field("/source_code",
                "longer than " + std::to_string(longest_source) + " bytes",
                "send a json_schema"));
  auto r = std::make_shared<reading>();
  r->organization = organization;
  r->key = key_of(lang, source, function);
  r->lang = lang;
  r->source = std::move(source);
  r->function = std::move(function);
  {
    std::unique_lock lock{mutex_};
    if (const auto* hit
        = known_.find(r->key, std::chrono::steady_clock::now())) {
      auto what = *hit;
      lock.unlock();
      return done(*what);
    }
    if (auto i = open_.find({organization, r->key}); i != open_.end()) {
      i->second->asking.push_back(std::move(done));
      return;
    }
    if (!take_place(*r)) {
      auto i = lines_.find(organization);
      // Who waits is let in by one that ends; where none runs, none ends.
      const bool may_wait = i != lines_.end()
        && i->second.waiting.size() < rules_.waiting_per_organization;
      if (!may_wait) {
        lock.unlock();
        return done(too_many());
      }
      i->second.waiting.push_back(r);
      open_.emplace(std::pair{organization, r->key}, r);
      r->asking.push_back(std::move(done));
      return;
    }
    open_.emplace(std::pair{organization, r->key}, r);
    r->asking.push_back(std::move(done));
  }
  begin(r);
}

/// With the lock held. A line exists for as long as something of it runs.
bool schema_cache::take_place(reading& r) {
  auto i = lines_.find(r.organization);
  if (i != lines_.end() && i->second.running >= rules_.running_per_organization)
    return false;
  if (places_.take && !places_.take(r.ticket, r.organization))
    return false;
  ++lines_[r.organization].running;
  return true;
}

void schema_cache::begin(const reading_ptr& r) {
  auto answer = [self = shared_from_this(), r](result<derived_schema> what) {
    self->answered(r, std::move(what));
  };
  who_->derive(r->lang, std::move(r->source), std::move(r->function),
               std::move(answer));
}

void schema_cache::answered(const reading_ptr& r, result<derived_schema> what) {
  auto shared = std::make_shared<const result<derived_schema>>(std::move(what));
  std::vector<handler<derived_schema>> told;
  std::vector<reading_ptr> starting, refused;
  if (places_.give_back)
    places_.give_back(r->ticket);
  {
    std::lock_guard guard{mutex_};
    open_.erase({r->organization, r->key});
    told = std::move(r->asking);
    if (*shared || shared->error().code == ec::invalid_request)
      known_.put(r->key, shared, std::chrono::steady_clock::now());
    starting = next(r->organization, refused);
  }
  for (auto& done : told)
    done(*shared);
  for (auto& each : refused)
    for (auto& done : each->asking)
      done(too_many());
  for (auto& each : starting)
    begin(each);
}

/// One of them has ended. With the lock held.
std::vector<schema_cache::reading_ptr>
schema_cache::next(const organization_id& organization,
                   std::vector<reading_ptr>& refused) {
  std::vector<reading_ptr> starting;
  auto i = lines_.find(organization);
  auto& [running, waiting] = i->second;
  --running;
  while (!waiting.empty() && take_place(*waiting.front())) {
    starting.push_back(std::move(waiting.front()));
    waiting.pop_front();
  }
  if (running != 0)
    return starting;
  // The runs of the organization have taken all there is.
  for (auto& each : waiting) {
    open_.erase({organization, each->key});
    refused.push_back(std::move(each));
  }
  lines_.erase(i);
  return starting;
}

} // namespace troupe
