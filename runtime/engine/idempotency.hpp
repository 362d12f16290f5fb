#pragma once

#include "runtime/base/error.hpp"

#include <string_view>

namespace troupe {

inline constexpr std::string_view idempotency_pointer = "/idempotency_key";

/// Told apart from other conflicts by what it points to.
inline error key_of_another_request() {
  return {ec::conflict,
          "this idempotency key was used for another request; use a new key "
          "for a new request",
          {{std::string{idempotency_pointer}, "was used for another request",
            "use a new key for a new request"}},
          {}};
}

inline bool is_key_of_another_request(const error& e) {
  return e.code == ec::conflict && !e.fields.empty()
    && e.fields.front().pointer == idempotency_pointer;
}

} // namespace troupe
