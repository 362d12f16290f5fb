#include "app/stored.hpp"

#include "runtime/model/codec.hpp"

namespace troupe {

namespace {

class stored_configuration final : public configuration_store {
public:
  explicit stored_configuration(std::shared_ptr<store> kept)
      : kept_{std::move(kept)} {}

  result<catalog_ptr> load() override { return kept_->catalog->current(); }

  result<applied> apply(const caller& who,
                        const catalog_change& what) override {
    author by{who.organization, who.user};
    auto reply = kept_->catalog->apply(by, what, now());
    if (!reply)
      return reply.error();
    return applied{kept_->catalog->current(), std::move(*reply)};
  }

  result<secret> unseal(const sealed_variable& v) const override {
    return kept_->seals->open(v);
  }
  result<secret> unseal(const sealed_agent_variable& v) const override {
    return kept_->seals->open(v);
  }

private:
  std::shared_ptr<store> kept_;
};

class stored_journal final : public journal {
public:
  explicit stored_journal(std::shared_ptr<store> kept)
      : kept_{std::move(kept)} {}

  result<void> write(const std::vector<journal_entry>& entries,
                     bool sync) override {
    auto how = sync ? durability::synced : durability::buffered;
    // Runs first: a settled key leads to a record that is there.
    std::vector<run_record> runs;
    for (auto& entry : entries)
      if (entry.run)
        runs.push_back(*entry.run);
    if (!runs.empty())
      if (auto put = kept_->runs->put(runs, how); !put)
        return put;
    for (auto& entry : entries)
      if (auto settled = settle(entry); !settled)
        return settled;
    return write_audit(entries, how);
  }

  result<claim_outcome> claim(const key_claim& wanted,
                              const run_record& begun) override {
    auto got = kept_->idempotency->claim(wanted.organization, wanted.key,
                                         wanted.digest, wanted.run, now());
    if (!got)
      return got.error();
    claim_outcome out;
    out.run = got->run;
    switch (got->what) {
    case idempotency_claim::kind::mine:
      if (auto put = kept_->runs->put(begun); !put) {
        // Nobody may find a key that leads nowhere.
        (void)kept_->idempotency->release(wanted.organization, wanted.key,
                                          wanted.run);
        return put.error();
      }
      return out;
    case idempotency_claim::kind::running:
      out.what = claim_outcome::kind::running;
      return out;
    case idempotency_claim::kind::ended:
      return ended(wanted, std::move(out));
    }
    return out;
  }

  result<std::optional<run_record>>
  find_run(const organization_id& organization, const run_id& id) override {
    auto found = kept_->runs->find(organization, id);
    if (found)
      return std::optional{std::move(*found)};
    if (found.error().code == ec::not_found)
      return std::optional<run_record>{};
    return found.error();
  }

  result<page<run_record>> list_runs(const organization_id& organization,
                                     const std::string& after,
                                     std::size_t limit) override {
    return kept_->runs->list(organization, after, limit);
  }

  result<page<audit_entry>> list_audit(const organization_id& organization,
                                       std::uint64_t after,
                                       std::size_t limit) override {
    return kept_->audit->list(organization, after, limit);
  }

  result<std::size_t> mark_lost() override {
    auto open = kept_->runs->unfinished();
    if (!open)
      return open.error();
    for (auto& run : *open) {
      run.phase = run_phase::ended;
      run.ended_at = now();
      error lost;
      lost.code = ec::timeout;
      lost.text = "the engine stopped while this run was under way; "
                  "it may have run: look before trying again";
      run.failure = std::make_shared<const error>(std::move(lost));
    }
    if (!open->empty())
      if (auto put = kept_->runs->put(*open); !put)
        return put.error();
    return open->size();
  }

  result<void> tidy() override {
    if (auto swept = kept_->idempotency->sweep(now()); !swept)
      return swept.error();
    return {};
  }

private:
  /// The record is the answer: it has the result as well as the failure.
  result<claim_outcome> ended(const key_claim& wanted, claim_outcome out) {
    auto run = kept_->runs->find(wanted.organization, out.run);
    if (!run)
      return std::move(run).error().within(
        "this idempotency key belongs to a run that is no longer kept");
    out.what = claim_outcome::kind::ended;
    out.result = run->result;
    out.failure = run->failure;
    return out;
  }

  result<void> settle(const journal_entry& entry) {
    auto& keys = *kept_->idempotency;
    if (auto& done = entry.settle) {
      auto kept
        = keys.finish(done->organization, done->key, done->run, {}, now());
      // An expired key is nobody's loss.
      if (!kept && kept.error().code != ec::not_found)
        return kept;
    }
    if (auto& back = entry.release)
      return keys.release(back->organization, back->key, back->run);
    return {};
  }

  result<void> write_audit(const std::vector<journal_entry>& entries,
                           durability how) {
    std::map<organization_id, std::vector<json::object>> lines;
    for (auto& entry : entries)
      if (entry.audit)
        lines[entry.organization].push_back(*entry.audit);
    for (auto& [organization, all] : lines)
      if (auto added = kept_->audit->append(organization, all, now(), how);
          !added)
        return added;
    return {};
  }

  std::shared_ptr<store> kept_;
};

} // namespace

std::shared_ptr<configuration_store>
make_stored_configuration(std::shared_ptr<store> kept) {
  return std::make_shared<stored_configuration>(std::move(kept));
}

std::shared_ptr<journal> make_stored_journal(std::shared_ptr<store> kept) {
  return std::make_shared<stored_journal>(std::move(kept));
}

} // namespace troupe
