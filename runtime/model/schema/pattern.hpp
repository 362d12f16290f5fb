#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

namespace re2 {
class RE2;
}

namespace troupe {

/// A regular expression for the `pattern`s of foreign schemas: written as
/// ECMA-262 has it, found by RE2, which needs time in proportion to text and
/// pattern and bounded memory, whatever they are. No back references, no
/// look-around.
class pattern {
public:
  /// Nothing when the text uses what is not known here, or is too large.
  static std::optional<pattern> compile(std::string_view text);

  /// The same; `work` becomes what the attempt has cost, in steps of about a
  /// microsecond.
  static std::optional<pattern> compile(std::string_view text,
                                        std::size_t& work);

  pattern(pattern&&) noexcept;
  pattern& operator=(pattern&&) noexcept;
  ~pattern();

  /// Whether it matches anywhere in the text, as JSON Schema has it.
  bool found_in(std::string_view text) const;

  /// The work of `found_in` is at most this, times the text's length.
  std::size_t size() const;

private:
  explicit pattern(std::unique_ptr<const re2::RE2> machine);

  std::unique_ptr<const re2::RE2> machine_;
};

} // namespace troupe
