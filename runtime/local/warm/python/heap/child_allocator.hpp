#pragma once

namespace troupe::zygote {

/// In the zygote, once: finds the interpreter's allocator and reserves address
/// space. False, and nothing changed, where the interpreter has none to give.
bool prepare_child_allocator();

/// In the child: from here on new blocks come from the reserved region, and
/// blocks of the parent stay where they are until the process ends.
void use_child_allocator();

} // namespace troupe::zygote
