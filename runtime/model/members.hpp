#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace troupe {

/// A member by its name, of each struct that has one of that name.
template <class Get>
struct named_member {
  std::string_view name;
  Get get;

  template <class Struct>
  constexpr auto operator()(Struct& s) const -> decltype(get(s)) {
    return get(s);
  }
};

template <class Get>
named_member(std::string_view, Get) -> named_member<Get>;

#define TROUPE_MEMBER(name)                                                    \
  ::troupe::named_member {                                                     \
#name, [](auto& s) -> decltype((s.name)) { return s.name; }                \
  }

template <class Member, class Struct>
concept member_of = std::is_invocable_v<const Member&, Struct&>;

/// Calls `each` with every row of a table, a tuple, in its order.
template <class Table, class Each>
constexpr void for_each_row(const Table& rows, Each each) {
  std::apply([&](const auto&... row) { (each(row), ...); }, rows);
}

/// Becomes a member of any type. An optional is made from what it holds, or
/// there would be two ways.
struct any_member {
  template <class T>
  requires(!requires(T t) { t.has_value(); }) operator T() const;
};

/// How many members an aggregate has: what a table of them is held against.
template <class Struct, class... Members>
consteval std::size_t member_count() {
  if constexpr (requires { Struct{Members{}..., any_member{}}; })
    return member_count<Struct, Members..., any_member>();
  else
    return sizeof...(Members);
}

} // namespace troupe
