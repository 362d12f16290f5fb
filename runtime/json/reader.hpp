#pragma once

#include "runtime/json/json.hpp"

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::json {

/// The known name nearest to `name`, or "" if none is near.
std::string nearest(std::string_view name,
                    const std::vector<std::string_view>& known);

/// Reads the members of one object, collecting every complaint instead of
/// stopping at the first. Asked-for names are known names: `finish` refuses the
/// rest, with a pointer and the nearest known one. Null reads as absent.
///
///   reader in{object, pointer};
///   x.name = in.required_string("name", {.max = 256});
///   x.limit = in.integer("limit", 1, 1'000).value_or(50);
///   if (auto bad = in.finish()) return *bad;
class reader {
public:
  struct text_rule {
    std::size_t min = 0;
    std::size_t max = 1u << 20; // bytes
  };

  explicit reader(const object& source, std::string pointer = {});

  std::optional<std::string> text(std::string_view name, text_rule rule);
  std::optional<std::string> text(std::string_view name) {
    return text(name, text_rule{});
  }
  std::string required_text(std::string_view name, text_rule rule);
  std::string required_text(std::string_view name) {
    return required_text(name, text_rule{});
  }
  std::optional<bool> boolean(std::string_view name);
  std::optional<std::int64_t>
  integer(std::string_view name,
          std::int64_t min = std::numeric_limits<std::int64_t>::min(),
          std::int64_t max = std::numeric_limits<std::int64_t>::max());
  std::optional<double> number(std::string_view name, double min, double max);
  const object* member_object(std::string_view name);
  const array* member_array(std::string_view name);
  const value* member(std::string_view name); // any type, null included
  /// One of a closed set; the complaint lists them.
  std::optional<std::string> one_of(std::string_view name,
                                    std::initializer_list<std::string_view>);
  bool has(std::string_view name) const; // present and not null

  /// Adds a complaint about a member, or takes over a nested reader's.
  void complain(std::string_view name, std::string reason,
                std::string hint = {});
  void absorb(error nested);

  /// What other interfaces call it, in lower case, and what to send here: for
  /// the complaint about such a member. Outlives the reader.
  using alias = std::pair<std::string_view, std::string_view>;
  void knows_elsewhere(std::span<const alias> names) { elsewhere_ = names; }

  /// Refuses unknown members, then returns all complaints as one error.
  std::optional<error> finish();
  /// The same but lets unknown members pass.
  std::optional<error> finish_lenient();

  std::string pointer_to(std::string_view name) const;

private:
  const value* find(std::string_view name);
  std::string way_out(std::string_view name) const;

  const object& source_;
  std::string pointer_;
  std::vector<std::string_view> known_;
  std::span<const alias> elsewhere_;
  std::vector<field_error> complaints_;
};

} // namespace troupe::json
