#pragma once

namespace troupe::zygote {

/// Code and constants of each loaded library become one mapping where they
/// were three. Returns how many mappings that saved.
int merge_maps();

} // namespace troupe::zygote
