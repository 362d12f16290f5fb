#pragma once

#include <stddef.h>
#include <stdint.h>

namespace troupe::zygote {

/// Which parts of its memory a process writes to, while it goes on with what
/// it does, much slower. For one process, once; only where the processor can
/// stop after each instruction.
bool begin_write_trace();
/// All writes from here on belong to another phase, 31 at most.
void next_trace_phase();
/// For each 16 bytes written to since then: the phases, as bits.
struct traced_write {
  uintptr_t address = 0; // 0: none
  uint32_t phases = 0;
};
/// Ends it. `count` entries, some of them empty.
const traced_write* end_write_trace(size_t& count);

/// To be traced.
void trace_writes_to(uintptr_t begin, uintptr_t end);

} // namespace troupe::zygote
