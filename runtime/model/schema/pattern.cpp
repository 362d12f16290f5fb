#include "runtime/model/schema/pattern.hpp"

#include "runtime/json/utf8.hpp"

#include <utility>

namespace troupe {

namespace {

using state = pattern::state;
using step = pattern::state::kind;

constexpr std::uint32_t nowhere = ~0u;

bool matches(const state& s, std::uint32_t code) {
  for (auto& r : s.set)
    if (code >= r.first && code <= r.last)
      return !s.negated;
  return s.negated;
}

/// The states a machine is in at once; each is entered once per position.
class front {
public:
  explicit front(const std::vector<state>& states)
      : states_{states}, seen_(states.size(), 0) {}

  void clear() {
    ++round_;
    active.clear();
  }

  void enter(std::uint32_t at, bool at_begin, bool at_end) {
    pending_.push_back(at);
    while (!pending_.empty()) {
      at = pending_.back();
      pending_.pop_back();
      if (at == nowhere || seen_[at] == round_)
        continue;
      seen_[at] = round_;
      auto& s = states_[at];
      if (s.what == step::split) {
        pending_.push_back(s.other);
        pending_.push_back(s.next);
      } else if (s.what == step::begin || s.what == step::end) {
        if (s.what == step::begin ? at_begin : at_end)
          pending_.push_back(s.next);
      } else {
        matched = matched || s.what == step::match;
        active.push_back(at);
      }
    }
  }

  std::vector<std::uint32_t> active;
  bool matched = false;

private:
  const std::vector<state>& states_;
  std::vector<std::uint32_t> seen_;
  std::vector<std::uint32_t> pending_;
  std::uint32_t round_ = 0;
};

} // namespace

bool pattern::found_in(std::string_view text) const {
  front now{states_}, next{states_};
  now.clear();
  now.enter(start_, true, text.empty());
  while (!now.matched && !text.empty()) {
    auto step = json::next_code_point(text);
    text.remove_prefix(step.size);
    next.clear();
    for (auto at : now.active)
      if (states_[at].what == state::kind::set
          && matches(states_[at], step.code))
        next.enter(states_[at].next, false, text.empty());
    next.enter(start_, false, text.empty()); // it may begin anywhere
    std::swap(now.active, next.active);
    now.matched = next.matched;
  }
  return now.matched;
}

} // namespace troupe
