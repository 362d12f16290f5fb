#include "runtime/json/utf8.hpp"
#include "runtime/model/schema/pattern.hpp"

namespace troupe {

namespace {

using state = pattern::state;
using step = pattern::state::kind;
using range = pattern::range;

// Longer ones are no patterns that a person wrote.
constexpr std::size_t longest_pattern = 1024;
constexpr std::size_t most_states = 4096; // bounds {m,n} inside {m,n}
constexpr std::size_t deepest_group = 32;
constexpr std::uint32_t most_repeats = 1000;
constexpr std::uint32_t no_step = ~0u;

/// A piece of machine: where it begins, and the state at its end, whose `next`
/// is still open.
struct piece {
  std::uint32_t begin = no_step;
  std::uint32_t end = no_step;
};

/// Recursive descent; every production may say no by returning nothing.
class compiler {
public:
  explicit compiler(std::string_view text) : rest_{text} {}

  std::optional<std::vector<state>> run(std::uint32_t& start) {
    auto whole = alternatives();
    if (!whole || !rest_.empty())
      return std::nullopt;
    auto end = add({step::match, false, {}, 0, 0});
    if (end == no_step)
      return std::nullopt;
    states_[whole->end].next = end;
    start = whole->begin;
    return std::move(states_);
  }

private:
  std::uint32_t add(state s) {
    if (states_.size() >= most_states)
      return no_step;
    states_.push_back(std::move(s));
    return static_cast<std::uint32_t>(states_.size() - 1);
  }

  /// A state that only leads on.
  std::optional<piece> empty() {
    auto at = add({step::split, false, {}, no_step, no_step});
    return at == no_step ? std::nullopt : std::optional{piece{at, at}};
  }

  std::optional<piece> single(state s) {
    auto at = add(std::move(s));
    return at == no_step ? std::nullopt : std::optional{piece{at, at}};
  }

  piece joined(piece a, piece b) {
    states_[a.end].next = b.begin;
    return {a.begin, b.end};
  }

  std::optional<piece> either(piece a, piece b) {
    auto fork = add({step::split, false, {}, a.begin, b.begin});
    auto end = empty();
    if (fork == no_step || !end)
      return std::nullopt;
    states_[a.end].next = end->begin;
    states_[b.end].next = end->begin;
    return piece{fork, end->end};
  }

  std::optional<piece> alternatives() {
    if (++depth_ > deepest_group)
      return std::nullopt;
    auto left = sequence();
    while (left && rest_.starts_with('|')) {
      rest_.remove_prefix(1);
      auto right = sequence();
      left = right ? either(*left, *right) : std::nullopt;
    }
    --depth_;
    return left;
  }

  std::optional<piece> sequence() {
    auto whole = empty();
    while (whole && !rest_.empty() && rest_[0] != '|' && rest_[0] != ')') {
      auto next = repeated();
      if (!next)
        return std::nullopt;
      whole = joined(*whole, *next);
    }
    return whole;
  }

  /// An atom with its quantifier. Bounded repeats are written out: the atom is
  /// compiled again from the same text.
  std::optional<piece> repeated() {
    auto text = rest_;
    auto one = atom();
    if (!one)
      return std::nullopt;
    std::uint32_t min = 1, max = 1;
    if (!quantifier(min, max))
      return std::nullopt;
    if (min == 1 && max == 1)
      return one;
    auto behind = rest_;
    auto again = [&] {
      rest_ = text;
      auto copy = atom();
      rest_ = behind;
      return copy;
    };
    auto whole = empty();
    for (std::uint32_t i = 0; whole && i < min; ++i) {
      auto copy = again();
      if (!copy)
        return std::nullopt;
      whole = joined(*whole, *copy);
    }
    if (max == no_step)
      return whole ? looped(*whole, again()) : std::nullopt;
    for (std::uint32_t i = min; whole && i < max; ++i) {
      auto copy = again();
      auto skip = empty();
      if (!copy || !skip)
        return std::nullopt;
      auto choice = either(*copy, *skip);
      whole = choice ? std::optional{joined(*whole, *choice)} : std::nullopt;
    }
    return whole;
  }

  std::optional<piece> looped(piece before, std::optional<piece> body) {
    auto end = empty();
    if (!body || !end)
      return std::nullopt;
    auto fork = add({step::split, false, {}, body->begin, end->begin});
    if (fork == no_step)
      return std::nullopt;
    states_[body->end].next = fork;
    states_[before.end].next = fork;
    return piece{before.begin, end->end};
  }

  bool number(std::uint32_t& n) {
    bool any = false;
    for (n = 0; !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9';
         rest_.remove_prefix(1), any = true)
      if ((n = n * 10 + static_cast<std::uint32_t>(rest_[0] - '0'))
          > most_repeats)
        return false;
    return any;
  }

  bool take(char c) {
    if (!rest_.starts_with(c))
      return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool quantifier(std::uint32_t& min, std::uint32_t& max) {
    if (take('*')) {
      min = 0;
      max = no_step;
    } else if (take('+')) {
      max = no_step;
    } else if (take('?')) {
      min = 0;
    } else if (take('{')) {
      if (!number(min))
        return false;
      max = min;
      if (take(',') && (max = no_step, !rest_.starts_with('}')) && !number(max))
        return false;
      if (!take('}') || max < min)
        return false;
    } else {
      return true;
    }
    take('?'); // greed makes no difference to whether it matches
    return rest_.empty() || std::string_view{"*+?{"}.find(rest_[0]) == npos;
  }

  std::optional<piece> atom() {
    if (take('('))
      return group();
    if (take('['))
      return bracket();
    if (take('.'))
      return single({step::set, true, {{'\n', '\n'}, {'\r', '\r'}}, 0, 0});
    if (take('^'))
      return single({step::begin, false, {}, 0, 0});
    if (take('$'))
      return single({step::end, false, {}, 0, 0});
    state s{step::set, false, {}, 0, 0};
    if (take('\\')) {
      if (!escape(s.set, s.negated))
        return std::nullopt;
      return single(std::move(s));
    }
    if (rest_.empty() || std::string_view{"*+?{"}.find(rest_[0]) != npos)
      return std::nullopt;
    auto c = code_point();
    s.set.push_back({c, c});
    return single(std::move(s));
  }

  std::optional<piece> group() {
    if (rest_.starts_with('?')) {
      if (!rest_.starts_with("?:"))
        return std::nullopt; // look-around, names: not known here
      rest_.remove_prefix(2);
    }
    auto inside = alternatives();
    return inside && take(')') ? inside : std::nullopt;
  }

  std::uint32_t code_point() {
    auto step = json::next_code_point(rest_);
    rest_.remove_prefix(step.size);
    return step.code;
  }

  /// Behind a backslash. A class adds its ranges and may be negated.
  bool escape(std::vector<range>& set, bool& negated) {
    if (rest_.empty())
      return false;
    char c = rest_[0];
    rest_.remove_prefix(1);
    switch (c) {
    case 'D':
      negated = true;
      [[fallthrough]];
    case 'd':
      set.push_back({'0', '9'});
      return true;
    case 'W':
      negated = true;
      [[fallthrough]];
    case 'w':
      set.insert(set.end(), {{'a', 'z'}, {'A', 'Z'}, {'0', '9'}, {'_', '_'}});
      return true;
    case 'S':
      negated = true;
      [[fallthrough]];
    case 's':
      set.insert(set.end(),
                 {{9, 13},
                  {' ', ' '},
                  {0xa0, 0xa0},
                  {0x2028, 0x2029},
                  {0xfeff, 0xfeff}});
      return true;
    default:
      return literal_escape(c, set);
    }
  }

  bool literal_escape(char c, std::vector<range>& set) {
    static constexpr std::string_view letters = "nrtfv0";
    static constexpr std::string_view meanings{"\n\r\t\f\v\0", 6};
    auto code = static_cast<std::uint32_t>(static_cast<unsigned char>(c));
    if (auto i = letters.find(c); i != npos)
      code = static_cast<unsigned char>(meanings[i]);
    else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
             || (c >= '0' && c <= '9') || code >= 0x80)
      return false; // \b, \1, \p{...}, \u....: not known here
    set.push_back({code, code});
    return true;
  }

  std::optional<piece> bracket() {
    state s{step::set, take('^'), {}, 0, 0};
    while (!rest_.empty() && rest_[0] != ']') {
      range r{};
      bool is_class = false;
      if (!class_item(s.set, r, is_class))
        return std::nullopt;
      if (is_class)
        continue;
      if (rest_.size() > 1 && rest_[0] == '-' && rest_[1] != ']') {
        rest_.remove_prefix(1);
        range last{};
        if (!class_item(s.set, last, is_class) || is_class
            || last.first < r.first)
          return std::nullopt;
        r.last = last.first;
      }
      s.set.push_back(r);
    }
    if (!take(']'))
      return std::nullopt;
    return single(std::move(s));
  }

  bool class_item(std::vector<range>& set, range& r, bool& is_class) {
    if (take('\\')) {
      std::vector<range> found;
      bool negated = false;
      if (!escape(found, negated) || negated)
        return false;
      is_class = found.size() > 1 || found[0].first != found[0].last;
      if (is_class)
        set.insert(set.end(), found.begin(), found.end());
      r = found[0];
      return true;
    }
    if (rest_.empty())
      return false;
    auto c = code_point();
    r = {c, c};
    return true;
  }

  static constexpr auto npos = std::string_view::npos;
  std::string_view rest_;
  std::vector<state> states_;
  std::size_t depth_ = 0;
};

} // namespace

std::optional<pattern> pattern::compile(std::string_view text) {
  if (text.size() > longest_pattern)
    return std::nullopt;
  pattern p;
  auto states = compiler{text}.run(p.start_);
  if (!states)
    return std::nullopt;
  p.states_ = std::move(*states);
  return p;
}

} // namespace troupe
