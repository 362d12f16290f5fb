#pragma once

namespace troupe::zygote {

/// Becomes like a child, calls each of the functions (a PyObject*, a list) and
/// writes down which blocks of the heap that has written to. The process is of
/// no use afterwards. Returns how many blocks; 0: nothing was written down.
int learn_from_calls(const char* profile, void* functions);

} // namespace troupe::zygote
