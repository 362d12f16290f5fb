#include "runtime/local/warm/slot_pool.hpp"

#include <algorithm>

namespace troupe::zygote {

namespace {
using clock = std::chrono::steady_clock;
}

void slot_pool::add(slot_ptr s) {
  all_.emplace(s->ticket(), std::move(s));
}

void slot_pool::remove(const slot& s) {
  withdraw(s);
  all_.erase(s.ticket());
}

slot_ptr slot_pool::find(std::uint64_t ticket) const {
  const auto found = all_.find(ticket);
  return found == all_.end() ? nullptr : found->second;
}

void slot_pool::withdraw(const slot& s) {
  const auto list = free_.find(s.key());
  if (list == free_.end())
    return;
  const auto gone = std::erase_if(
    list->second, [&s](const auto& x) { return x.get() == &s; });
  if (gone != 0 && s.now == slot::state::preforked)
    --preforked_;
  if (list->second.empty())
    free_.erase(list);
}

std::size_t slot_pool::free_count(const std::string& key) const {
  const auto list = free_.find(key);
  return list == free_.end() ? 0 : list->second.size();
}

slot_ptr slot_pool::take(const std::string& key) {
  const auto list = free_.find(key);
  if (list == free_.end())
    return nullptr;
  auto& slots = list->second;
  auto at = slots.end() - 1;
  if (preforked_ > 0) {
    const auto waiting
      = std::find_if(slots.begin(), slots.end(), [](const auto& s) {
          return s->now == slot::state::preforked;
        });
    if (waiting != slots.end()) {
      at = waiting;
      --preforked_;
    }
  }
  auto s = std::move(*at);
  slots.erase(at);
  if (slots.empty())
    free_.erase(list);
  return s;
}

void slot_pool::rest(const slot_ptr& s) {
  s->now = slot::state::idle;
  s->is_warm = false;
  s->since = clock::now();
  free_[s->key()].push_back(s);
}

void slot_pool::add_preforked(const slot_ptr& s) {
  s->now = slot::state::preforked;
  ++preforked_;
}

bool slot_pool::has_preforked(const std::string& key) const {
  const auto list = free_.find(key);
  return preforked_ > 0 && list != free_.end()
    && std::ranges::any_of(list->second, [](const auto& s) {
           return s->now == slot::state::preforked;
         });
}

std::size_t slot_pool::warm() const {
  std::size_t found = 0;
  if (preforked_ > 0)
    for (const auto& [key, slots] : free_)
      for (const auto& s : slots)
        found += s->now == slot::state::preforked && s->is_warm ? 1u : 0u;
  return found;
}

slot_ptr slot_pool::warmest_idle(const std::string& key) const {
  const auto list = free_.find(key);
  if (list == free_.end())
    return nullptr;
  const auto& slots = list->second;
  const auto best
    = std::find_if(slots.rbegin(), slots.rend(),
                   [](const auto& s) { return s->now == slot::state::idle; });
  return best == slots.rend() ? nullptr : *best;
}

slot_ptr slot_pool::warmest_not_warm() const {
  slot_ptr best;
  for (const auto& [key, slots] : free_)
    for (const auto& s : slots) {
      if (s->now == slot::state::preforked && !s->is_warm)
        return s;
      if (s->now == slot::state::idle && (!best || s->since > best->since))
        best = s;
    }
  return best;
}

slot_ptr slot_pool::coldest_free() const {
  slot_ptr best;
  for (const auto& [key, slots] : free_)
    if (!best || slots.front()->since < best->since)
      best = slots.front();
  return best;
}

std::vector<slot_ptr> slot_pool::unused_since(clock::time_point then) const {
  std::vector<slot_ptr> found;
  for (const auto& [key, slots] : free_)
    for (const auto& s : slots)
      if (s->since < then)
        found.push_back(s);
  return found;
}

std::size_t slot_pool::count(slot::state wanted) const {
  return static_cast<std::size_t>(
    std::count_if(all_.begin(), all_.end(), [wanted](const auto& entry) {
      return entry.second->now == wanted;
    }));
}

std::vector<slot_ptr> slot_pool::all() const {
  std::vector<slot_ptr> list;
  for (const auto& [ticket, s] : all_)
    list.push_back(s);
  return list;
}

} // namespace troupe::zygote
