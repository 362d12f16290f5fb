#pragma once

#include "storage/adapters/memory_stores.hpp"

namespace troupe::test {

/// The books in memory: a test overrides what it wants to see or to break.
class forwarding_journal : public journal {
public:
  result<void> write(std::span<journal_entry> entries) override {
    return real_->write(entries);
  }
  result<void> sync() override { return real_->sync(); }
  result<claim_outcome> claim(const key_claim& wanted,
                              const run_record& begun) override {
    return real_->claim(wanted, begun);
  }
  result<std::optional<run_record>> find_run(const organization_id& who,
                                             const run_id& id) override {
    return real_->find_run(who, id);
  }
  result<page<run_record>> list_runs(const organization_id& who,
                                     const std::string& after,
                                     std::size_t limit) override {
    return real_->list_runs(who, after, limit);
  }
  result<page<audit_entry>> list_audit(const organization_id& who,
                                       std::uint64_t after,
                                       std::size_t limit) override {
    return real_->list_audit(who, after, limit);
  }
  result<std::size_t> mark_lost() override { return real_->mark_lost(); }
  result<void> sweep() override { return real_->sweep(); }

private:
  std::shared_ptr<journal> real_ = make_memory_journal();
};

} // namespace troupe::test
