#include "actors/stores.hpp"
#include "runtime/audit_page.hpp"
#include "runtime/digest.hpp"
#include "runtime/model/codec.hpp"

#include <deque>
#include <map>
#include <unordered_map>

namespace troupe {

namespace {

/// For an engine without a data directory: there is nothing, and it stays so.
class memory_configuration final : public configuration_store {
public:
  result<catalog_ptr> load() override {
    return std::make_shared<const catalog>();
  }
  result<applied> apply(const caller&, const catalog_change&) override {
    return nowhere();
  }
  result<secret> unseal(const sealed_variable&) const override {
    return nowhere();
  }
  result<secret> unseal(const sealed_agent_variable&) const override {
    return nowhere();
  }

private:
  static error nowhere() {
    return {ec::unavailable,
            "this engine was opened without a data directory; "
            "open it with one to keep configuration"};
  }
};

/// The last runs and lines, forgotten when the process ends.
class memory_journal final : public journal {
public:
  result<void> write(const std::vector<journal_entry>& entries, bool) override {
    for (const auto& entry : entries)
      add(entry);
    return {};
  }

  result<claim_outcome> claim(const key_claim& wanted,
                              const run_record& begun) override {
    auto i = claims_.find({wanted.organization, wanted.key});
    if (i == claims_.end()) {
      if (claims_.size() >= limit)
        claims_.erase(claims_.begin());
      auto& kept = claims_[{wanted.organization, wanted.key}];
      kept.claim = wanted;
      kept.outcome.what = claim_outcome::kind::running;
      kept.outcome.run = wanted.run;
      keep(begun);
      claim_outcome fresh;
      fresh.run = wanted.run;
      return fresh;
    }
    if (i->second.claim.digest != wanted.digest)
      return error{ec::conflict,
                   "this idempotency key was used for another request; make a "
                   "new key for a new request"};
    return i->second.outcome;
  }

  result<std::optional<run_record>>
  find_run(const organization_id& organization, const run_id& id) override {
    auto i = runs_.find(id);
    if (i == runs_.end() || i->second.organization != organization)
      return std::optional<run_record>{};
    return std::optional{i->second};
  }

  result<page<run_record>> list_runs(const organization_id& organization,
                                     const std::string& after,
                                     std::size_t limit) override {
    page<run_record> found;
    bool begun = after.empty();
    for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
      if (!begun) {
        begun = id->str() == after;
        continue;
      }
      const auto& run = runs_.at(*id);
      if (run.organization != organization)
        continue;
      if (found.items.size() == limit) {
        found.next = found.items.back().id.str();
        break;
      }
      found.items.push_back(run);
    }
    return found;
  }

  result<page<audit_entry>> list_audit(const organization_id& organization,
                                       std::uint64_t after,
                                       std::size_t limit) override {
    page<audit_entry> found;
    if (after == newest_audit_entries) {
      for (auto i = audit_.rbegin();
           i != audit_.rend() && found.items.size() < limit; ++i)
        if (i->first == organization)
          found.items.insert(found.items.begin(), i->second);
      return found;
    }
    for (const auto& [owner, line] : audit_) {
      if (owner != organization || line.sequence <= after)
        continue;
      if (found.items.size() == limit) {
        found.next = std::to_string(found.items.back().sequence);
        break;
      }
      found.items.push_back(line);
    }
    return found;
  }

  result<std::size_t> mark_lost() override { return std::size_t{0}; }
  result<void> tidy() override { return {}; }

private:
  // Runs, lines and keys each. What is kept is touched again when it goes: the
  // fewer, the nearer.
  static constexpr std::size_t limit = 10'000;

  struct claimed {
    key_claim claim;
    claim_outcome outcome;
  };

  void keep(const run_record& run) {
    auto [i, fresh] = runs_.insert_or_assign(run.id, run);
    if (fresh)
      order_.push_back(run.id);
    if (order_.size() > limit) {
      runs_.erase(order_.front());
      order_.pop_front();
    }
  }

  void add(const journal_entry& entry) {
    if (entry.run)
      keep(*entry.run);
    if (entry.audit)
      add_line(entry.organization, *entry.audit);
    if (entry.release)
      claims_.erase({entry.release->organization, entry.release->key});
    if (entry.settle && entry.run) {
      auto i = claims_.find({entry.settle->organization, entry.settle->key});
      if (i != claims_.end()) {
        i->second.outcome.what = claim_outcome::kind::ended;
        i->second.outcome.result = entry.run->result;
        i->second.outcome.failure = entry.run->failure;
      }
    }
  }

  void add_line(const organization_id& organization, const json::object& what) {
    audit_entry line;
    line.sequence = ++sequence_;
    line.at = now();
    line.what = what;
    last_hash_ = hex(sha256(last_hash_ + json::to_text(what)));
    line.hash = last_hash_;
    audit_.emplace_back(organization, std::move(line));
    if (audit_.size() > limit)
      audit_.pop_front();
  }

  std::unordered_map<run_id, run_record> runs_;
  std::deque<run_id> order_;
  std::map<std::pair<organization_id, std::string>, claimed> claims_;
  std::deque<std::pair<organization_id, audit_entry>> audit_;
  std::uint64_t sequence_ = 0;
  std::string last_hash_;
};

} // namespace

std::shared_ptr<configuration_store> make_memory_configuration() {
  return std::make_shared<memory_configuration>();
}

std::shared_ptr<journal> make_memory_journal() {
  return std::make_shared<memory_journal>();
}

} // namespace troupe
