#pragma once

#include "runtime/base/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace troupe::frame {

/// What Letta's own scripts print: read from runners that are already out
/// there, never from our own. The envelope is untrusted JSON text,
/// `{"results": ..., "agent_state": ...}`.
struct legacy_answer {
  bool found = false;
  std::string envelope; // the payload, "" when none was found
  std::string text;     // everything around it
};

/// marker(16) length(4, big endian) md5(32 hex) payload, anywhere in `output`.
/// A frame that is short or does not match its checksum is an error.
result<legacy_answer> read_legacy_frame(std::string_view output,
                                        std::size_t limit);

/// The notebook form: the whole text is base64 of the envelope, or the
/// envelope itself.
result<std::string> read_legacy_text(std::string_view text, std::size_t limit);

/// What such a runner prints, for peers that still read it.
std::string write_legacy_frame(std::string_view envelope);

} // namespace troupe::frame
