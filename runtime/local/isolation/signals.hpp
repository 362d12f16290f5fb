#pragma once

namespace troupe::isolation {

/// Every signal as a new process expects it, and none blocked: what a parent
/// ignores would pass through exec. Safe between clone and exec.
void default_signals() noexcept;

} // namespace troupe::isolation
