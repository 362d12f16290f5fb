#pragma once

#include "runtime/base/error.hpp"
#include "runtime/runner/frame.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::frame {

/// For backends with no private channel, where the answer shares stdout with
/// the tool's prints: one line of ASCII,
///
///   \n=troupe:<key>:<length of the base64>:<base64 of the frame>=\n
///
/// The key is random and made for one run, so output of other runs, logs that
/// the tool echoes, and prints made to look like a frame are not taken for an
/// answer. A tool that digs its own key out of its process can only forge its
/// own return value, which is its to choose anyway; that is why no decision of
/// ours depends on anything else in the frame.
result<std::string> make_key(); // 32 hex digits

struct keyed_answer {
  std::optional<message> frame; // none: the run never answered
  std::string text;             // the output without the frame
};

/// The first frame with that key. One that is broken is an error.
result<keyed_answer> read_keyed_frame(std::string_view output,
                                      std::string_view key, std::size_t limit);

/// What a runner prints.
result<std::string> write_keyed_frame(const message& m, std::string_view key);

} // namespace troupe::frame
