#pragma once

#include <cstdint>

namespace troupe {

/// What a terminal shows at a time.
struct terminal_size {
  std::uint16_t columns = 80;
  std::uint16_t rows = 24;

  friend bool operator==(const terminal_size&, const terminal_size&) = default;
};

} // namespace troupe
