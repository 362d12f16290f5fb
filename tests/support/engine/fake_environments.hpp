#pragma once

#include "runtime/engine/package_environments.hpp"

#include <condition_variable>
#include <mutex>
#include <vector>

namespace troupe::test {

/// Environments in memory: a build goes on until the test ends it.
class fake_environments final : public environments {
public:
  // -- the test's side -------------------------------------------------------
  void say(const std::string& line) {
    for (auto& w : watchers())
      if (w.progress)
        w.progress(line);
  }
  void end(environment_state state) {
    environment_record r;
    std::vector<environment_watch> told;
    {
      std::lock_guard lock{mutex_};
      r = record_;
      r.state = record_.state = state;
      if (state == environment_state::failed)
        r.failure = record_.failure = std::make_shared<const error>(
          error{ec::invalid_request, "no such package", {}, {}});
      told.swap(watches_);
    }
    for (auto& w : told)
      if (w.finished)
        w.finished(r);
  }
  void wait_for_watcher() {
    std::unique_lock lock{mutex_};
    joined_.wait(lock, [this] { return !watches_.empty(); });
  }
  environment_request last_wish() {
    std::lock_guard lock{mutex_};
    return wish_;
  }
  bool in_use = false;

  // -- environments ----------------------------------------------------------
  std::string build(const organization_id& organization,
                    environment_request wish,
                    environment_watch watch) override {
    {
      std::lock_guard lock{mutex_};
      owner_ = organization;
      wish_ = wish;
      if (record_.fingerprint.empty() || wish.afresh)
        record_ = {};
      record_.fingerprint = "f1";
    }
    if (!this->watch(organization, "f1", std::move(watch)))
      return {};
    return "f1";
  }
  result<void> watch(const organization_id& organization,
                     const std::string& fingerprint,
                     environment_watch watch) override {
    auto found = find(organization, fingerprint);
    if (!found)
      return error{ec::not_found, "no such package set", {}, {}};
    if (found->state != environment_state::building) {
      if (watch.finished)
        watch.finished(*found);
      return {};
    }
    std::lock_guard lock{mutex_};
    watches_.push_back(std::move(watch));
    joined_.notify_all();
    return {};
  }
  std::optional<environment_record>
  find(const organization_id& organization,
       const std::string& fingerprint) const override {
    std::lock_guard lock{mutex_};
    if (organization != owner_ || record_.fingerprint.empty()
        || fingerprint != record_.fingerprint)
      return std::nullopt;
    return record_;
  }
  std::vector<environment_record>
  list(const organization_id& organization) const override {
    auto one = find(organization, "f1");
    return one ? std::vector{*one} : std::vector<environment_record>{};
  }
  void remove(const organization_id& organization,
              const std::string& fingerprint,
              std::function<void(result<void>)> done) override {
    if (!find(organization, fingerprint))
      return done(error{ec::not_found, "no such package set", {}, {}});
    if (in_use)
      return done(error{ec::conflict, "runs use it", {}, {}});
    std::lock_guard lock{mutex_};
    record_ = {};
    done({});
  }

private:
  std::vector<environment_watch> watchers() {
    std::lock_guard lock{mutex_};
    return watches_;
  }

  mutable std::mutex mutex_;
  std::condition_variable joined_;
  organization_id owner_;
  environment_request wish_;
  environment_record record_;
  std::vector<environment_watch> watches_;
};

} // namespace troupe::test
