#pragma once

namespace troupe::zygote {

/// Each loaded library becomes two mappings where it was five: code with its
/// constants, and data. Returns how many mappings that saved.
int merge_maps();

} // namespace troupe::zygote
