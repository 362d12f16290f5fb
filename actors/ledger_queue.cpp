#include "actors/ledger_queue.hpp"

namespace troupe {

namespace {

std::size_t weigh(const journal_entry& entry) {
  std::size_t bytes = 512; // ids, times, the nodes of maps
  if (entry.run && entry.run->result) {
    const auto& r = *entry.run->result;
    bytes += r.value_json.size() + r.stdout_text.size() + r.stderr_text.size()
      + r.agent_state_json.size();
  }
  return bytes;
}

} // namespace

ledger_queue::outcome ledger_queue::push(journal_entry entry,
                                         std::function<void(bool)> kept) {
  const bool urgent = static_cast<bool>(kept);
  const auto bytes = weigh(entry);
  std::lock_guard guard{mutex_};
  if (entries_.size() >= 2 * bounds_.entries
      || bytes_ + bytes > 2 * bounds_.bytes)
    return outcome::full;
  // The end of a run that still waits to be begun: one line says both.
  std::size_t* before = nullptr;
  if (entry.run && !entry.settle && !entry.release) {
    auto [i, fresh] = latest_.try_emplace(entry.run->id, entries_.size());
    if (!fresh)
      before = &i->second;
  }
  if (before && !urgent && !entries_[*before].kept) {
    auto& old = entries_[*before];
    old.entry.run = std::move(entry.run);
    if (entry.audit) {
      old.entry.audit = std::move(entry.audit);
      old.entry.organization = std::move(entry.organization);
    }
    bytes_ += bytes - old.bytes;
    old.bytes = bytes;
  } else {
    if (before)
      *before = entries_.size();
    entries_.push_back({std::move(entry), std::move(kept), bytes});
    bytes_ += bytes;
  }
  if (urgent && !hurried_) {
    awake_ = hurried_ = true;
    return outcome::wake_now;
  }
  if (awake_)
    return outcome::quiet;
  awake_ = true;
  return outcome::wake;
}

std::vector<ledger_queue::waiting> ledger_queue::drain() {
  std::vector<waiting> all;
  std::lock_guard guard{mutex_};
  all.swap(entries_);
  latest_.clear();
  bytes_ = 0;
  awake_ = hurried_ = false;
  return all;
}

bool ledger_queue::room() const {
  std::lock_guard guard{mutex_};
  return entries_.size() < bounds_.entries && bytes_ < bounds_.bytes;
}

std::size_t ledger_queue::size() const {
  std::lock_guard guard{mutex_};
  return entries_.size();
}

} // namespace troupe
