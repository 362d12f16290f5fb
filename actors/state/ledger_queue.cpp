#include "actors/state/ledger_queue.hpp"

#include "runtime/model/codec/codec.hpp"

#include <utility>

namespace troupe {

namespace {

std::size_t weigh(const ledger_entry& line) {
  std::size_t bytes = 512 + line.audit.size(); // ids, times, the nodes of maps
  if (line.request)
    bytes += bytes_of(*line.request);
  if (line.run && line.run->phase == run_phase::ended && line.run->outcome) {
    const auto& r = *line.run->outcome;
    bytes += r.value_json.size() + r.stdout_text.size() + r.stderr_text.size()
      + r.agent_state_json.size();
  }
  return bytes;
}

} // namespace

key_disposition fate_of_key(const active_run& run) {
  const bool no_tool
    = !run.outcome || run.outcome->reason == exit_reason::start_failed;
  return no_tool && !run.may_have_started ? key_disposition::release
                                          : key_disposition::settle;
}

ledger_queue::outcome ledger_queue::push(ledger_entry&& line,
                                         std::function<void(bool)> kept) {
  const bool urgent = static_cast<bool>(kept);
  const auto bytes = weigh(line);
  std::lock_guard guard{mutex_};
  if (count_ >= 2 * bounds_.entries || bytes_ + bytes > 2 * bounds_.bytes)
    return outcome::full;
  // The end of a run that still waits to be begun: one line says both.
  auto* run = line.run.get();
  const bool waits = run && run->line_round == round_;
  if (waits && !urgent && !lines_[run->line_index].kept) {
    auto& old = lines_[run->line_index];
    if (!line.audit.empty())
      old.line.audit.swap(line.audit);
    if (line.key != key_disposition::none)
      old.line.key = line.key;
    bytes_ += bytes - old.bytes;
    old.bytes = bytes;
  } else {
    if (run) {
      run->line_round = round_;
      run->line_index = count_;
    }
    waiting one{std::move(line), std::move(kept), bytes};
    add(one);
    line = std::move(one.line); // what was left there: the caller frees it
    bytes_ += bytes;
  }
  look_for_room();
  if ((urgent || count_ >= bounds_.hurry_at) && !hurried_) {
    awake_ = hurried_ = true;
    return outcome::wake_now;
  }
  if (awake_)
    return outcome::quiet;
  awake_ = true;
  return outcome::wake;
}

std::span<ledger_queue::waiting> ledger_queue::take() {
  constexpr std::size_t usual = 1'024; // slots; more were for a flood
  if (has_rest())
    return {taken_.data(), taken_count_};
  if (taken_.size() > usual)
    taken_ = {}; // outside of the lock: it may destroy runs
  std::lock_guard guard{mutex_};
  taken_.swap(lines_);
  taken_count_ = std::exchange(count_, 0);
  ++round_;
  bytes_ = 0;
  awake_ = hurried_ = false;
  look_for_room();
  return {taken_.data(), taken_count_};
}

std::vector<std::function<void(bool)>> ledger_queue::take_waiters() {
  std::vector<std::function<void(bool)>> all;
  std::lock_guard guard{mutex_};
  for (std::size_t i = 0; i < count_; ++i)
    if (lines_[i].kept)
      all.push_back(std::exchange(lines_[i].kept, {}));
  return all;
}

/// Under the lock.
void ledger_queue::add(waiting& one) {
  if (count_ == lines_.size())
    lines_.push_back(std::move(one));
  else
    std::swap(lines_[count_], one);
  ++count_;
}

/// Under the lock.
void ledger_queue::look_for_room() {
  const bool now = count_ < bounds_.entries && bytes_ < bounds_.bytes;
  if (now != room())
    room_.store(now, std::memory_order_relaxed);
}

std::size_t ledger_queue::size() const {
  std::lock_guard guard{mutex_};
  return count_;
}

} // namespace troupe
