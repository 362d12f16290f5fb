#pragma once

#include "runtime/base/error.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace troupe {

/// What a backend is; which one it is says its name.
enum class backend_kind : std::uint8_t {
  local,
  e2b,
  modal,
  daytona,
  aio,
  peer
};

/// Everything about a kind that needs no config and no connection.
struct backend_kind_facts {
  backend_kind kind;
  std::string_view text;
  /// A service that makes sandboxes; the others run this very engine.
  bool is_provider;
  /// How strongly a provider separates runs from us and from each other, in the
  /// order of `strictness`; the others have that of their isolation level.
  int separation;
};

/// In the order of the enumeration.
inline constexpr std::array backend_kinds_known{
  backend_kind_facts{backend_kind::local, "local", false, 0},
  backend_kind_facts{backend_kind::e2b, "e2b", true, 4},     // a microVM
  backend_kind_facts{backend_kind::modal, "modal", true, 4}, // gVisor
  // A container elsewhere.
  backend_kind_facts{backend_kind::daytona, "daytona", true, 3},
  // A container, often on our own host.
  backend_kind_facts{backend_kind::aio, "aio", true, 2},
  backend_kind_facts{backend_kind::peer, "peer", false, 0},
};

/// How many there are, for what is kept by kind.
inline constexpr std::size_t backend_kinds = backend_kinds_known.size();

constexpr const backend_kind_facts& facts_of(backend_kind kind) {
  return backend_kinds_known[static_cast<std::size_t>(kind)];
}

constexpr std::string_view to_string(backend_kind kind) {
  return facts_of(kind).text;
}
result<backend_kind> parse_backend(std::string_view text);

} // namespace troupe
