#pragma once

#include "runtime/local/warm/slot.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace troupe::zygote {

using slot_ptr = std::shared_ptr<slot>;

/// All slots by ticket, and those that wait for work by key, the warmest
/// first. Moves them between states, decides nothing.
class slot_pool {
public:
  void add(slot_ptr s);
  void remove(const slot& s);
  slot_ptr find(std::uint64_t ticket) const;

  /// A slot for this key: one with a waiting child rather than one without.
  /// It no longer waits for work; its state is the caller's to change.
  slot_ptr take(const std::string& key);
  bool has_free(const std::string& key) const { return free_count(key) > 0; }
  std::size_t free_count(const std::string& key) const;

  void rest(const slot_ptr& s);          // idle from here on
  void add_preforked(const slot_ptr& s); // preforked from here on
  std::size_t preforked() const { return preforked_; }
  bool has_preforked(const std::string& key) const;
  std::size_t warm() const; // of the preforked ones

  /// For preforking: the warmest idle slot of a key; of all keys the one that
  /// was preforked and could be warm, or else the warmest idle one. The coldest
  /// is for evicting.
  slot_ptr warmest_idle(const std::string& key) const;
  slot_ptr warmest_not_warm() const;
  slot_ptr coldest_free() const;
  /// Those without work since before `then`.
  std::vector<slot_ptr>
  unused_since(std::chrono::steady_clock::time_point then) const;

  std::size_t size() const { return all_.size(); }
  std::size_t count(slot::state s) const;
  std::vector<slot_ptr> all() const;

private:
  void withdraw(const slot& s);

  std::size_t preforked_ = 0; // of those that wait
  std::unordered_map<std::uint64_t, slot_ptr> all_;
  std::unordered_map<std::string, std::vector<slot_ptr>> free_; // last: warmest
};

} // namespace troupe::zygote
