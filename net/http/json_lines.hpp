#pragma once

#include "runtime/base/error.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace troupe::net {

/// Splits a body into lines as it comes in, each bounded. The last line may
/// lack its newline.
class line_reader {
public:
  using line_sink = std::function<result<void>(std::string_view line)>;

  explicit line_reader(line_sink sink, std::size_t max_line_bytes = 32u << 20)
      : sink_{std::move(sink)}, limit_{max_line_bytes} {}

  result<void> feed(std::string_view bytes);
  result<void> finish();

private:
  line_sink sink_;
  std::size_t limit_;
  std::string buffer_;
};

} // namespace troupe::net
