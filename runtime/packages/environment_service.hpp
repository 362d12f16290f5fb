#pragma once

#include "runtime/engine/package_environments.hpp"
#include "runtime/packages/builder.hpp"

#include <deque>
#include <map>
#include <memory>
#include <mutex>

namespace troupe {

/// Shows the builder to people: what is there, what is under way, and, for a
/// while, what went wrong.
class environment_service final
    : public environments,
      public std::enable_shared_from_this<environment_service> {
public:
  explicit environment_service(std::shared_ptr<environment_builder> builder)
      : builder_{std::move(builder)} {}

  std::string build(const organization_id& organization,
                    environment_request wish, environment_watch watch) override;
  result<void> watch(const organization_id& organization,
                     const std::string& fingerprint,
                     environment_watch watch) override;
  std::optional<environment_record>
  find(const organization_id& organization,
       const std::string& fingerprint) const override;
  std::vector<environment_record>
  list(const organization_id& organization) const override;
  void remove(const organization_id& organization,
              const std::string& fingerprint,
              std::function<void(result<void>)> done) override;

private:
  using key = environment_builder::key;

  environment_waiter waiter_for(const key& k, environment_watch watch);
  void note(const key& k, const result<environment_lease_ptr>& ended);
  std::map<std::string, environment_record>
  all_of(const organization_id& organization) const;

  const std::shared_ptr<environment_builder> builder_;
  mutable std::mutex mutex_;
  std::map<key, std::shared_ptr<const error>> failures_;
  std::deque<key> failed_; // in the order in which they did
};

} // namespace troupe
