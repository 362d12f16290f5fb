#pragma once

#include <string_view>

namespace troupe::zygote {

/// What /proc shows of how this process and its forks were started: these
/// arguments, each closed by a zero, and no variables. Those that the process
/// has, it keeps.
void show_start_as(std::string_view arguments);

} // namespace troupe::zygote
