#include "storage/adapters/memory_stores.hpp"

#include "runtime/base/digest.hpp"
#include "runtime/engine/audit_page.hpp"
#include "runtime/engine/idempotency.hpp"
#include "runtime/model/codec/codec.hpp"

#include <boost/circular_buffer.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <deque>
#include <map>

namespace troupe {

namespace {

/// For an engine without a data directory: there is nothing, and it stays so.
class memory_configuration final : public configuration_store {
public:
  const snapshot<catalog>& current() const override { return empty_; }
  result<applied> apply(const caller&, const catalog_change&,
                        std::string_view) override {
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
            "open it with one to keep configuration",
            {},
            {}};
  }

  const snapshot<catalog> empty_{std::make_shared<const catalog>()};
};

/// The last runs and lines, forgotten when the process ends.
class memory_journal final : public journal {
public:
  result<void> sync() override { return {}; }
  result<void> write(std::span<journal_entry> entries) override {
    for (auto& entry : entries)
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
      keep(run_record{begun});
      claim_outcome fresh;
      fresh.run = wanted.run;
      return fresh;
    }
    if (i->second.claim.digest != wanted.digest)
      return key_of_another_request();
    return i->second.outcome;
  }

  result<std::optional<run_record>>
  find_run(const organization_id& organization, const run_id& id) override {
    const auto i = numbers_.find(id);
    if (i == numbers_.end() || at(i->second).organization != organization)
      return std::optional<run_record>{};
    return std::optional{at(i->second)};
  }

  result<page<run_record>> list_runs(const organization_id& organization,
                                     const std::string& after,
                                     std::size_t limit) override {
    page<run_record> found;
    bool begun = after.empty();
    for (auto i = runs_.rbegin(); i != runs_.rend(); ++i) {
      const auto& run = *i;
      if (!begun) {
        begun = run.id.str() == after;
        continue;
      }
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
    std::vector<const kept_line*> wanted;
    page<audit_entry> found;
    if (after == newest_audit_entries) {
      for (auto i = audit_.rbegin();
           i != audit_.rend() && wanted.size() < limit; ++i)
        if (i->organization == organization)
          wanted.push_back(&*i);
      std::reverse(wanted.begin(), wanted.end());
    } else {
      for (const auto& line : audit_) {
        if (line.organization != organization || line.sequence <= after)
          continue;
        if (wanted.size() == limit) {
          if (limit > 0)
            found.next = std::to_string(wanted.back()->sequence);
          break;
        }
        wanted.push_back(&line);
      }
    }
    for (const auto* line : wanted) {
      auto entry = read(*line);
      if (!entry)
        return entry.error();
      found.items.push_back(std::move(*entry));
    }
    return found;
  }

  result<std::size_t> mark_lost() override { return std::size_t{0}; }
  result<void> sweep() override { return {}; }

private:
  // Runs, lines and keys each: fewer than the engine's registry remembers, so
  // that a result goes where it was made and not here, in another thread.
  static constexpr std::size_t limit = 2'000;

  struct claimed {
    key_claim claim;
    claim_outcome outcome;
  };

  /// Kept as text, as on a disk: most lines are never read.
  struct kept_line {
    organization_id organization;
    std::uint64_t sequence = 0;
    timestamp at{};
    sha256_digest hash{};
    std::string text;
  };

  const run_record& keep(run_record&& run) {
    if (const auto i = numbers_.find(run.id); i != numbers_.end())
      return at(i->second) = std::move(run);
    if (runs_.size() == limit) {
      numbers_.erase(runs_.front().id);
    } else if (runs_.full()) {
      runs_.set_capacity(
        std::clamp<std::size_t>(2 * runs_.capacity(), 64, limit));
    }
    runs_.push_back(std::move(run)); // in the oldest one's place
    numbers_.emplace(runs_.back().id, ++last_number_);
    return runs_.back();
  }

  run_record& at(std::uint64_t number) {
    return runs_[runs_.size() - 1 - (last_number_ - number)];
  }

  /// The run's own claim: another one's stays what it is.
  auto find_claim(const key_claim& of) {
    auto i = claims_.find({of.organization, of.key});
    return i != claims_.end() && i->second.claim.run == of.run ? i
                                                               : claims_.end();
  }

  void add(journal_entry& entry) {
    if (!entry.audit.empty())
      add_line(std::move(entry.organization), std::string{entry.audit});
    if (entry.release)
      if (auto i = find_claim(*entry.release); i != claims_.end())
        claims_.erase(i);
    if (!entry.run)
      return;
    const auto& run = keep(std::move(*entry.run));
    if (!entry.settle)
      return;
    auto i = find_claim(*entry.settle);
    if (i == claims_.end())
      return;
    i->second.outcome.what = claim_outcome::kind::ended;
    i->second.outcome.result = run.result;
    i->second.outcome.failure = run.failure;
  }

  void add_line(organization_id organization, std::string text) {
    const auto before = audit_.empty() ? sha256_digest{} : audit_.back().hash;
    auto hash = sha256_joined(
      {{reinterpret_cast<const char*>(before.data()), before.size()}, text});
    audit_.push_back(
      {std::move(organization), ++sequence_, now(), hash, std::move(text)});
    if (audit_.size() > limit)
      audit_.pop_front();
  }

  static result<audit_entry> read(const kept_line& line) {
    auto what = json::parse_object(line.text, {.depth = 128});
    if (!what)
      return what.error();
    return audit_entry{line.sequence, line.at, hex(line.hash),
                       std::move(*what)};
  }

  boost::circular_buffer<run_record> runs_; // the oldest first
  std::uint64_t last_number_ = 0;           // of a run
  boost::unordered_flat_map<run_id, std::uint64_t, std::hash<run_id>> numbers_;
  std::map<std::pair<organization_id, std::string>, claimed> claims_;
  std::deque<kept_line> audit_;
  std::uint64_t sequence_ = 0;
};

} // namespace

std::shared_ptr<configuration_store> make_memory_configuration() {
  return std::make_shared<memory_configuration>();
}

std::shared_ptr<journal> make_memory_journal() {
  return std::make_shared<memory_journal>();
}

} // namespace troupe
