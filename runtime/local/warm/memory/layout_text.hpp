#pragma once

namespace troupe::zygote {

/// Puts the interpreter's code on anonymous memory, huge pages where it spans
/// them. Returns how many; 0, and nothing changed, when a step fails.
int move_text();

} // namespace troupe::zygote
