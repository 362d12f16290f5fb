#include "actors/schema_desk.hpp"

#include "runtime/digest.hpp"

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

} // namespace

schema_desk::schema_desk(std::shared_ptr<schema_deriver> who)
    : who_{std::move(who)}, known_{keep_for, kept} {}

void schema_desk::derive(language lang, std::string source,
                         std::string function, handler<derived_schema> done) {
  if (!who_)
    return done(error{ec::unavailable,
                      "this engine cannot derive schemas: it has no local "
                      "backend; give a json_schema",
                      {},
                      {}});
  if (source.size() > longest_source)
    return done(
      bad_field("/source_code",
                "longer than " + std::to_string(longest_source) + " bytes",
                "give a json_schema"));
  auto key = key_of(lang, source, function);
  {
    std::unique_lock lock{mutex_};
    if (const auto* hit = known_.find(key, std::chrono::steady_clock::now())) {
      auto what = *hit;
      lock.unlock();
      return done(*what);
    }
    auto [i, fresh] = asking_.try_emplace(key);
    i->second.push_back(std::move(done));
    if (!fresh)
      return;
  }
  auto answer = [self = shared_from_this(), key](result<derived_schema> what) {
    self->answered(key, std::move(what));
  };
  who_->derive(lang, std::move(source), std::move(function), std::move(answer));
}

void schema_desk::answered(const std::string& key,
                           result<derived_schema> what) {
  auto shared = std::make_shared<const result<derived_schema>>(std::move(what));
  std::vector<handler<derived_schema>> waiting;
  {
    std::lock_guard guard{mutex_};
    if (auto n = asking_.extract(key))
      waiting = std::move(n.mapped());
    if (*shared || shared->error().code == ec::invalid_request)
      known_.put(key, shared, std::chrono::steady_clock::now());
  }
  for (auto& done : waiting)
    done(*shared);
}

} // namespace troupe
