#pragma once

#include "runtime/base/error.hpp"
#include "runtime/model/id_value.hpp"

#include <compare>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace troupe {

/// The name of one thing of one kind: `run-<uuid4>`, `tool-<uuid4>`, ...
/// Kinds do not mix, and an id built from foreign text has been checked.
template <class Kind>
class id {
public:
  static constexpr std::string_view prefix = Kind::prefix;

  id() = default;
  /// Takes the text as it is: for ids that come from our own store.
  explicit id(std::string text) : value_{prefix, std::move(text)} {}

  static id make() {
    id made;
    made.value_ = id_value::make();
    return made;
  }

  /// The same UUID, for a thing that comes with another one.
  template <class Other>
  static id twin_of(const id<Other>& other) {
    id made;
    made.value_ = other.value_;
    return made;
  }

  static result<id> parse(std::string_view text) {
    if (!is_id(prefix, text))
      return bad_field("",
                       "'" + std::string{text.substr(0, 64)}
                         + "' is not a valid " + std::string{prefix} + " id",
                       "the form is " + std::string{prefix} + "-<uuid4>");
    return id{std::string{text}};
  }

  std::string str() const { return value_.text(prefix); }
  bool empty() const noexcept { return value_.empty(); }
  explicit operator bool() const noexcept { return !empty(); }
  /// It reads as an id of this kind has to.
  bool is_sound() const noexcept { return value_.is_uuid(); }

  /// As their texts are ordered.
  friend std::strong_ordering operator<=>(const id& a, const id& b) {
    return a.is_sound() && b.is_sound() ? a.value_.order(b.value_)
                                        : a.str() <=> b.str();
  }
  friend bool operator==(const id& a, const id& b) noexcept {
    return a.value_ == b.value_;
  }
  friend std::string to_string(const id& x) { return x.str(); }

  /// As text: what goes over a wire stays what it was.
  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, id& x) {
    auto text = x.str();
    if constexpr (Inspector::writes_state) {
      auto read = f(text);
      x = id{std::move(text)};
      return read;
    } else {
      return f(text);
    }
  }

  std::size_t hash() const noexcept { return value_.hash(); }

private:
  template <class Other>
  friend class id;

  id_value value_;
};

struct organization_kind {
  static constexpr std::string_view prefix = "org";
};
struct user_kind {
  static constexpr std::string_view prefix = "user";
};
struct tool_kind {
  static constexpr std::string_view prefix = "tool";
};
struct run_id_kind {
  static constexpr std::string_view prefix = "run";
};
struct config_kind {
  static constexpr std::string_view prefix = "sandbox";
};
struct variable_kind {
  static constexpr std::string_view prefix = "sandbox-env";
};
struct agent_variable_kind {
  static constexpr std::string_view prefix = "agent-env";
};
struct key_kind {
  static constexpr std::string_view prefix = "key";
};
struct batch_kind {
  static constexpr std::string_view prefix = "batch";
};

using organization_id = id<organization_kind>;
using user_id = id<user_kind>;
using tool_id = id<tool_kind>;
using run_id = id<run_id_kind>;
using config_id = id<config_kind>;
using variable_id = id<variable_kind>;
using agent_variable_id = id<agent_variable_kind>;
using key_id = id<key_kind>;
using batch_id = id<batch_kind>;

/// The defaults: ids that Letta clients know.
organization_id default_organization();
user_id default_user();

} // namespace troupe

template <class Kind>
struct std::hash<troupe::id<Kind>> {
  /// Not `noexcept`, on purpose: the library then keeps the hash beside each
  /// entry, and a look-up compares numbers instead of hashing its neighbours.
  std::size_t operator()(const troupe::id<Kind>& x) const { return x.hash(); }
};
