#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

namespace troupe {

/// A bounded map whose entries are forgotten after a while. Time is handed in.
template <class Key, class Value>
class expiring_map {
public:
  using clock = std::chrono::steady_clock;

  expiring_map(std::chrono::milliseconds keep_for, std::size_t limit)
      : keep_for_{keep_for}, limit_{limit} {}

  const Value* find(const Key& key, clock::time_point now) {
    auto i = entries_.find(key);
    if (i == entries_.end())
      return nullptr;
    if (i->second.until <= now) {
      forget(i);
      return nullptr;
    }
    return &i->second.value;
  }

  void put(const Key& key, Value value, clock::time_point now) {
    if (keep_for_.count() <= 0 || limit_ == 0)
      return;
    if (auto i = entries_.find(key); i != entries_.end())
      forget(i);
    while (entries_.size() >= limit_)
      forget(entries_.find(order_.begin()->second));
    const auto until = now + keep_for_;
    auto where = order_.emplace(until, key);
    entries_.emplace(key, entry{std::move(value), until, where});
  }

  void sweep(clock::time_point now) {
    while (!order_.empty() && order_.begin()->first <= now)
      forget(entries_.find(order_.begin()->second));
  }

  std::size_t size() const noexcept { return entries_.size(); }

private:
  using order = std::multimap<clock::time_point, Key>;
  struct entry {
    Value value;
    clock::time_point until;
    typename order::iterator where;
  };
  using entries = std::map<Key, entry>;

  void forget(typename entries::iterator i) {
    order_.erase(i->second.where);
    entries_.erase(i);
  }

  const std::chrono::milliseconds keep_for_;
  const std::size_t limit_;
  entries entries_;
  order order_;
};

} // namespace troupe
