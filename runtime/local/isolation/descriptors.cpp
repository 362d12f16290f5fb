#include "runtime/local/isolation/descriptors.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace troupe::isolation {

namespace {

/// Out of the way of every number that will be given out.
constexpr int parking = 64;

} // namespace

outcome close_from(unsigned first) noexcept {
  if (::syscall(SYS_close_range, first, ~0U, 0) != 0)
    return failed(step::descriptors);
  return {};
}

outcome install_fds(int* from, int count) noexcept {
  if (from[0] < 0) {
    from[0] = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (from[0] < 0)
      return failed(step::descriptors);
  }
  // First away from the numbers that are about to be overwritten.
  for (int i = 0; i < count; ++i) {
    from[i] = ::fcntl(from[i], F_DUPFD_CLOEXEC, parking);
    if (from[i] < 0)
      return failed(step::descriptors);
  }
  for (int i = 0; i < count; ++i)
    if (::dup2(from[i], i) < 0)
      return failed(step::descriptors);
  if (::syscall(SYS_close_range, static_cast<unsigned>(count), ~0U,
                CLOSE_RANGE_CLOEXEC)
      != 0)
    return failed(step::descriptors);
  return {};
}

} // namespace troupe::isolation
