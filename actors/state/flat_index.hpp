#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace troupe {

/// Finds things by a hash that they bring along. Its entries lie side by side:
/// no node per thing, and a look-up touches no thing but the one it finds.
/// `T` is false when default-constructed, as pointers and numbers are.
template <class T>
class flat_index {
public:
  std::size_t size() const { return size_; }

  /// The first one of this hash that `is_it` says yes to; null: none.
  template <class Is>
  const T* find(std::size_t hash, const Is& is_it) const {
    const auto at = place_of(hash, is_it);
    return at == none ? nullptr : &slots_[at].what;
  }

  /// It must not be there yet.
  void add(std::size_t hash, T what) {
    if (slots_.size() < 2 * (size_ + 1))
      move_to(slots_.empty() ? smallest : 2 * slots_.size());
    put({hash, std::move(what)});
    ++size_;
  }

  /// Takes it out; a `T{}` if it was not there.
  template <class Is>
  T take(std::size_t hash, const Is& is_it) {
    const auto at = place_of(hash, is_it);
    if (at == none)
      return T{};
    auto taken = std::exchange(slots_[at].what, T{});
    close_gap(at);
    --size_;
    // After a flood; with some slack, so that it does not go back and forth.
    if (slots_.size() > smallest && slots_.size() > 16 * size_)
      move_to(slots_.size() / 4);
    return taken;
  }

  template <class Visit>
  void each(const Visit& visit) const {
    for (const auto& s : slots_)
      if (s.what)
        visit(s.what);
  }

private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  static constexpr std::size_t smallest = 64; // a power of two, as all sizes
  struct slot {
    std::size_t hash = 0;
    T what{};
  };

  std::size_t mask() const { return slots_.size() - 1; }

  template <class Is>
  std::size_t place_of(std::size_t hash, const Is& is_it) const {
    if (slots_.empty())
      return none;
    for (auto i = hash & mask(); slots_[i].what; i = (i + 1) & mask())
      if (slots_[i].hash == hash && is_it(slots_[i].what))
        return i;
    return none;
  }

  void put(slot&& s) {
    auto i = s.hash & mask();
    while (slots_[i].what)
      i = (i + 1) & mask();
    slots_[i] = std::move(s);
  }

  /// Whoever could not be put where it belongs moves up.
  void close_gap(std::size_t gap) {
    for (auto i = (gap + 1) & mask(); slots_[i].what; i = (i + 1) & mask()) {
      const auto from_home = (i - slots_[i].hash) & mask();
      if (from_home < ((i - gap) & mask()))
        continue; // its home lies behind the gap
      slots_[gap].hash = slots_[i].hash;
      slots_[gap].what = std::exchange(slots_[i].what, T{});
      gap = i;
    }
  }

  void move_to(std::size_t count) {
    auto old = std::exchange(slots_, std::vector<slot>(count));
    for (auto& s : old)
      if (s.what)
        put(std::move(s));
  }

  std::vector<slot> slots_;
  std::size_t size_ = 0;
};

} // namespace troupe
