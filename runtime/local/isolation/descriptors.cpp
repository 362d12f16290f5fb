#include "runtime/local/isolation/descriptors.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

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

outcome keep_only(int* kept, int count) noexcept {
  const auto close_between = [](int first, int last) {
    return first > last
      || ::syscall(SYS_close_range, static_cast<unsigned>(first),
                   static_cast<unsigned>(last), 0)
      == 0;
  };
  std::sort(kept, kept + count);
  int next = 0;
  for (int i = 0; i < count; ++i) {
    if (kept[i] < 0)
      continue;
    if (!close_between(next, kept[i] - 1))
      return failed(step::descriptors);
    next = kept[i] + 1;
  }
  if (auto no = close_from(static_cast<unsigned>(next)); !no.ok())
    return no;
  for (int fd = 0; fd < 3; ++fd)
    if (::open("/dev/null", O_RDWR) != fd)
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
