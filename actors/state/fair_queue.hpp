#pragma once

#include "runtime/model/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace troupe {

/// Deficit round robin between organizations, priority within one. An
/// organization with a thousand waiting runs delays the single run of another
/// by one turn, not by a thousand.
template <class T>
class fair_queue {
public:
  /// Where a waiting thing stands, to take it out again.
  struct place {
    organization_id organization;
    std::int64_t rank = 0; // -priority: the map's first is the most urgent
    std::uint64_t number = 0;
  };

  place push(const organization_id& organization, std::int32_t priority,
             std::uint32_t weight, T value) {
    auto [i, fresh] = lines_.try_emplace(organization);
    auto& line = i->second;
    if (line.waiting.empty())
      line.turn = turns_.insert(turns_.end(), organization);
    line.weight = weight == 0 ? 1 : weight;
    place where{organization, -std::int64_t{priority}, ++number_};
    line.waiting.emplace(std::pair{where.rank, where.number}, std::move(value));
    ++size_;
    return where;
  }

  std::optional<T> take(const place& where) {
    auto line = lines_.find(where.organization);
    if (line == lines_.end())
      return std::nullopt;
    auto i = line->second.waiting.find({where.rank, where.number});
    if (i == line->second.waiting.end())
      return std::nullopt;
    std::optional<T> value{std::move(i->second)};
    line->second.waiting.erase(i);
    forget_if_empty(line);
    --size_;
    return value;
  }

  /// The next one of an organization that `may` go now.
  template <class Predicate>
  std::optional<T> pop(Predicate may) {
    for (std::size_t looked = turns_.size(); looked > 0; --looked) {
      auto line = lines_.find(turns_.front());
      if (!may(line->first)) {
        // It keeps its credit: it waits for its own runs, not for its turn.
        turns_.splice(turns_.end(), turns_, turns_.begin());
        continue;
      }
      if (line->second.credit == 0)
        line->second.credit = line->second.weight;
      auto first = line->second.waiting.begin();
      std::optional<T> value{std::move(first->second)};
      line->second.waiting.erase(first);
      if (--line->second.credit == 0)
        turns_.splice(turns_.end(), turns_, turns_.begin());
      forget_if_empty(line);
      --size_;
      return value;
    }
    return std::nullopt;
  }

  std::size_t size() const noexcept { return size_; }
  std::size_t size(const organization_id& organization) const {
    auto i = lines_.find(organization);
    return i == lines_.end() ? 0 : i->second.waiting.size();
  }

private:
  struct line {
    std::map<std::pair<std::int64_t, std::uint64_t>, T> waiting;
    std::uint32_t weight = 1;
    std::uint32_t credit = 0; // turns left in this round
    std::list<organization_id>::iterator turn;
  };
  using lines = std::unordered_map<organization_id, line>;

  void forget_if_empty(typename lines::iterator i) {
    if (!i->second.waiting.empty())
      return;
    turns_.erase(i->second.turn);
    lines_.erase(i);
  }

  lines lines_;
  std::list<organization_id> turns_;
  std::uint64_t number_ = 0;
  std::size_t size_ = 0;
};

} // namespace troupe
