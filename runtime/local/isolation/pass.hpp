#pragma once

#include <linux/filter.h>

#include <array>
#include <cstdint>
#include <vector>

namespace troupe::isolation {

// A slot that makes a world for every run needs calls that no run may make,
// and a filter is inherited. A second filter per run would cost a twentieth of
// it. So the filter lets these calls through to whoever shows a pass: 64 random
// bits in the sixth argument, where the kernel does not look. The pass lies on
// one page of memory that a forked process finds empty, and is read from there
// into a register, call by call.

/// Of a filter that `issue_pass` has not seen yet. It is nobody's pass.
inline constexpr std::uint64_t blank_pass = 0x7061'7373'b1a9'c0de;

/// Makes a pass for this process, and for those that share its memory, and
/// writes it into the filter. False, with errno, where the kernel has no such
/// pages.
bool issue_pass(std::vector<sock_filter>& filter) noexcept;

/// Once it is installed: nothing of it stays in our memory.
void forget(std::vector<sock_filter>& filter) noexcept;

/// A call that shows the pass, if there is one. -1 with errno, as libc has it.
long call_with_pass(long number, std::array<long, 5> arguments) noexcept;

} // namespace troupe::isolation
