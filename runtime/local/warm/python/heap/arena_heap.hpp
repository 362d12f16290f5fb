#pragma once

namespace troupe::zygote {

/// Before the preload: what the interpreter allocates from here on lies side
/// by side. False, and nothing changed, where it cannot.
bool gather_heap();

/// Before a trace of writes: what is in the heap by now is to be watched.
void trace_heap();

/// After the preload: that heap onto huge pages. Returns how many there are.
int collapse_heap();

} // namespace troupe::zygote
