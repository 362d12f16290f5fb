#pragma once

#include "runtime/base/error.hpp"
#include "runtime/local/sandbox/inside/hand_protocol.hpp"

#include <string>

namespace troupe {

/// What a hand's errno means to who asked for that.
error hand_refusal(inside::hand_word asked, int number,
                   const std::string& path);

/// A question about one path.
inside::hand_message about(inside::hand_word what, std::string path);

} // namespace troupe
