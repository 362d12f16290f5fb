#pragma once

#include "runtime/error.hpp"

#include <compare>
#include <functional>
#include <string>
#include <string_view>

namespace troupe {

/// A random UUID of version 4, lower case.
std::string make_uuid();

/// Accepts `prefix` + "-" + UUID version 4, and nothing else.
bool is_id(std::string_view prefix, std::string_view text);

/// The name of one thing of one kind: `run-<uuid4>`, `tool-<uuid4>`, ...
/// Kinds do not mix, and an id built from foreign text has been checked.
template <class Kind>
class id {
public:
  static constexpr std::string_view prefix = Kind::prefix;

  id() = default;
  /// Takes the text as it is: for ids that come from our own store.
  explicit id(std::string text) : text_{std::move(text)} {}

  static id make() { return id{std::string{prefix} + "-" + make_uuid()}; }

  static result<id> parse(std::string_view text) {
    if (!is_id(prefix, text))
      return bad_field("",
                       "'" + std::string{text.substr(0, 64)} + "' is no "
                         + std::string{prefix} + " id",
                       "it reads " + std::string{prefix} + "-<uuid4>");
    return id{std::string{text}};
  }

  const std::string& str() const noexcept { return text_; }
  bool empty() const noexcept { return text_.empty(); }
  explicit operator bool() const noexcept { return !text_.empty(); }

  friend auto operator<=>(const id&, const id&) = default;
  friend bool operator==(const id&, const id&) = default;
  friend std::string to_string(const id& x) { return x.text_; }

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, id& x) {
    return f(x.text_);
  }

private:
  std::string text_;
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
struct run_kind_tag {
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
using run_id = id<run_kind_tag>;
using config_id = id<config_kind>;
using variable_id = id<variable_kind>;
using agent_variable_id = id<agent_variable_kind>;
using key_id = id<key_kind>;
using batch_id = id<batch_kind>;

/// Who acts when nobody says who: the ids that Letta clients know.
organization_id default_organization();
user_id default_user();

} // namespace troupe

template <class Kind>
struct std::hash<troupe::id<Kind>> {
  /// Not `noexcept`, on purpose: the library then keeps the hash beside each
  /// entry, and a look-up compares numbers instead of hashing its neighbours.
  std::size_t operator()(const troupe::id<Kind>& x) const {
    return std::hash<std::string>{}(x.str());
  }
};
