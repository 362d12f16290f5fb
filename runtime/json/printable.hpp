#pragma once

#include <string>
#include <string_view>

namespace troupe {

/// What others said, fit for an error of ours: valid UTF-8 on one line, cut to
/// 200 bytes.
std::string printable(std::string_view text);

} // namespace troupe
