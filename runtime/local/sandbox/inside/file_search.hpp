#pragma once

#include "runtime/local/sandbox/inside/hand_protocol.hpp"

#include <functional>

namespace troupe::inside {

/// Whether a name is what a pattern says: * is any text, ? any character.
bool matches_name(std::string_view pattern, std::string_view name);

/// Finds what lies below the folder of the order, at most so many of it, and
/// for ten seconds at most; `whole` says whether that was all. Of files with
/// more than 16 MiB, or with a zero byte, the text is not looked at. 0 or
/// errno.
int search_tree(const hand_message& order,
                const std::function<void(hand_match)>& found, bool& whole);

} // namespace troupe::inside
