#include "storage/adapters/journal.hpp"

#include "runtime/json/writer.hpp"
#include "runtime/model/codec/codec.hpp"
#include "runtime/model/codec/outcome_text.hpp"

#include <map>

namespace troupe {

namespace {

/// How an ended run is kept under its key: a letter for the kind, then JSON.
std::string answer_text(const run_record& run) {
  if (run.result)
    return "r" + to_text(run.result);
  if (run.failure)
    return "f" + to_text(run.failure);
  return {};
}

/// The audit line of a run that ended with an engine of before.
std::string audit_of_lost(const run_record& run) {
  json::object_writer line;
  line.text("event", "run");
  line.text("run", run.id.str());
  if (!run.tool_name.empty())
    line.text("tool_name", run.tool_name);
  if (!run.agent_id.empty())
    line.text("agent", run.agent_id);
  line.text("backend", to_string(run.backend));
  line.text("status", to_string(exit_reason::lost));
  line.text("reason", to_string(exit_reason::lost));
  return line.finish();
}

class stored_journal final : public journal {
public:
  explicit stored_journal(std::shared_ptr<store> all) : all_{std::move(all)} {}

  result<void> write(std::span<journal_entry> entries) override {
    std::vector<run_write> runs;
    std::map<organization_id, std::vector<std::string_view>> lines;
    for (auto& entry : entries) {
      if (!entry.audit.empty())
        lines[entry.organization].push_back(entry.audit);
      if (entry.run)
        runs.push_back({&*entry.run, entry.fresh});
    }
    if (!runs.empty())
      if (auto ok = all_->runs->put(runs, durability::buffered); !ok)
        return ok;
    result<void> all_well;
    auto also = [&](result<void> ok) {
      if (!ok && all_well)
        all_well = std::move(ok);
    };
    for (const auto& [organization, texts] : lines)
      if (auto ok = all_->audit->append_texts(organization, texts, now(),
                                              durability::buffered);
          ok)
        take_out_audit(entries, organization);
      else
        also(std::move(ok));
    for (const auto& entry : entries)
      also(settle(entry));
    return all_well;
  }

  result<void> sync() override { return all_->db->sync(); }

  result<claim_outcome> claim(const key_claim& wanted,
                              const run_record& begun) override {
    auto found
      = all_->idempotency->claim(wanted.organization, wanted.key, wanted.digest,
                                 wanted.run, now(), durability::buffered);
    if (!found)
      return found.error();
    claim_outcome outcome;
    outcome.run = found->run;
    switch (found->what) {
    case idempotency_claim::kind::mine:
      // So that after a crash it is known as lost and not as still running.
      if (auto ok = all_->runs->put(begun, durability::buffered); !ok) {
        // Nobody may find a key that leads nowhere.
        (void)all_->idempotency->release(wanted.organization, wanted.key,
                                         wanted.run);
        return ok.error();
      }
      return outcome;
    case idempotency_claim::kind::running: {
      auto run = all_->runs->find(wanted.organization, found->run);
      // Without a record the process died between the two writes.
      const bool ended = run ? run->phase == run_phase::ended
                             : run.error().code == ec::not_found;
      outcome.what
        = ended ? claim_outcome::kind::ended : claim_outcome::kind::running;
      if (run) {
        outcome.result = run->result;
        outcome.failure = run->failure;
      }
      return outcome;
    }
    case idempotency_claim::kind::ended:
      return ended(wanted, std::move(outcome), found->answer);
    }
    return outcome;
  }

  result<std::optional<run_record>>
  find_run(const organization_id& organization, const run_id& id) override {
    auto found = all_->runs->find(organization, id);
    if (found)
      return std::optional{std::move(*found)};
    if (found.error().code == ec::not_found)
      return std::optional<run_record>{};
    return found.error();
  }

  result<page<run_record>> list_runs(const organization_id& organization,
                                     const std::string& after,
                                     std::size_t limit) override {
    return all_->runs->list(organization, after, limit);
  }

  result<page<audit_entry>> list_audit(const organization_id& organization,
                                       std::uint64_t after,
                                       std::size_t limit) override {
    return all_->audit->list(organization, after, limit);
  }

  result<std::size_t> mark_lost() override {
    auto open = all_->runs->unfinished();
    if (!open)
      return open.error();
    for (auto& run : *open) {
      auto lost = std::make_shared<run_result>();
      lost->id = run.id;
      lost->status = run_status::error;
      lost->reason = exit_reason::lost;
      lost->detail = "the engine ended while the run was in progress; it may "
                     "have had effects";
      lost->backend = run.backend;
      lost->failure.name = "Lost";
      lost->failure.message = lost->detail;
      run.phase = run_phase::ended;
      run.ended_at = now();
      run.result = std::move(lost);
    }
    if (open->empty())
      return open->size();
    if (auto ok = all_->runs->put(*open, durability::buffered); !ok)
      return ok.error();
    for (const auto& run : *open) {
      const auto text = audit_of_lost(run);
      const std::string_view line{text};
      if (auto ok = all_->audit->append_texts(run.organization, {&line, 1},
                                              now(), durability::buffered);
          !ok)
        return ok.error();
    }
    if (auto ok = sync(); !ok)
      return ok.error();
    return open->size();
  }

  result<void> sweep() override {
    auto swept = all_->idempotency->sweep(now());
    if (!swept)
      return swept.error();
    return {};
  }

  std::optional<error> write_failure() const override {
    return all_->db->write_failure();
  }

private:
  result<void> settle(const journal_entry& entry) {
    if (entry.settle && entry.run) {
      const auto& c = *entry.settle;
      auto kept = all_->idempotency->finish(c.organization, c.key, c.run,
                                            answer_text(*entry.run), now());
      // An expired key is nobody's loss.
      if (!kept && kept.error().code != ec::not_found)
        return kept;
      return {};
    }
    if (entry.release) {
      const auto& c = *entry.release;
      auto given = all_->idempotency->release(c.organization, c.key, c.run);
      // It may have ended before its claim got this far.
      if (!given && given.error().code != ec::not_found)
        return given;
    }
    return {};
  }

  static void take_out_audit(std::span<journal_entry> entries,
                             const organization_id& of) {
    for (auto& entry : entries)
      if (entry.organization == of)
        entry.audit = {};
  }

  result<claim_outcome> ended(const key_claim& wanted, claim_outcome outcome,
                              const std::string& answer) {
    outcome.what = claim_outcome::kind::ended;
    if (answer.empty()) { // too large to be kept twice
      auto run = all_->runs->find(wanted.organization, outcome.run);
      if (run) {
        outcome.result = run->result;
        outcome.failure = run->failure;
      }
      return outcome;
    }
    auto text = std::string_view{answer}.substr(1);
    if (answer.front() == 'r') {
      auto parsed = result_from_text(text);
      if (!parsed)
        return parsed.error();
      outcome.result = std::move(*parsed);
    } else {
      auto parsed = error_from_text(text);
      if (!parsed)
        return parsed.error();
      outcome.failure = std::move(*parsed);
    }
    return outcome;
  }

  const std::shared_ptr<store> all_;
};

} // namespace

std::shared_ptr<journal> make_stored_journal(std::shared_ptr<store> all) {
  return std::make_shared<stored_journal>(std::move(all));
}

} // namespace troupe
