#pragma once

#include "runtime/base/error.hpp"

#include <string>
#include <utility>

namespace troupe::net {

/// A failure with nothing but its code and its sentence.
inline error fail(ec code, std::string text) {
  return {code, std::move(text), {}, {}};
}

} // namespace troupe::net
