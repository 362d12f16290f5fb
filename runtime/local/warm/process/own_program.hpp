#pragma once

namespace troupe::zygote {

/// An interpreter that belongs to the user whose runs it forks, as in a home
/// directory: its owner could change it by /proc/self/exe, which leads to where
/// it lies on the host. Slots execute what their tree shows instead, and for
/// that nothing of the file may be mapped. False: not possible here.
bool let_go_of_own_program();

/// Its path, if it is one's own; "" otherwise.
const char* own_program();

} // namespace troupe::zygote
