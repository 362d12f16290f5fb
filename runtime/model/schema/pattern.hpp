#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace troupe {

/// A regular expression that needs time in proportion to text and pattern,
/// whatever they are: for the `pattern`s of foreign schemas. It knows what
/// those use: literals, `.`, classes, `\d \w \s` and their opposites, anchors,
/// groups, `|`, and `* + ? {m,n}`. No back references, no look-around.
class pattern {
public:
  /// Nothing when the text uses what is not known here, or is too large.
  static std::optional<pattern> compile(std::string_view text);

  /// Whether it matches anywhere in the text, as JSON Schema has it.
  bool found_in(std::string_view text) const;

  /// The work of `found_in` is at most this, times the text's length.
  std::size_t size() const noexcept { return states_.size(); }

  struct range {
    std::uint32_t first, last;
  };
  /// One step of the machine; `next` and `other` are where to go on.
  struct state {
    enum class kind : std::uint8_t { set, split, begin, end, match };
    kind what = kind::match;
    bool negated = false;
    std::vector<range> set;
    std::uint32_t next = 0, other = 0;
  };

private:
  std::vector<state> states_;
  std::uint32_t start_ = 0;
};

} // namespace troupe
