#pragma once

namespace troupe::zygote {

/// Makes fork copy the page tables of the constants and the code around this
/// address of the interpreter, as far as they are in memory now. Returns how
/// many mappings it did that for.
int inherit_maps(const void* inside);

} // namespace troupe::zygote
