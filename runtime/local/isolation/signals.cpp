#include "runtime/local/isolation/signals.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

namespace troupe::isolation {

namespace {

/// Of the kernel's set, which the C library's is larger than.
constexpr int signals = 64;
constexpr std::size_t set_size = signals / 8;

/// The kernel's own struct, at least as large as on any architecture. All
/// zeros is SIG_DFL.
struct kernel_action {
  unsigned long words[4 + set_size / sizeof(unsigned long)] = {};
};

} // namespace

void default_signals() noexcept {
  // Not by the C library, which refuses to speak of two signals it uses
  // itself (32 and 33); a sanitizer's parent ignores one of them.
  const kernel_action plain;
  for (int signal = 1; signal <= signals; ++signal) // KILL and STOP say no
    ::syscall(SYS_rt_sigaction, signal, &plain, nullptr, set_size);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

} // namespace troupe::isolation
