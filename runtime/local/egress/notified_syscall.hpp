#pragma once

#include "runtime/base/unique_fd.hpp"

#include <linux/seccomp.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace troupe::network {

/// One call of the tool that waits for its verdict, and the way into the
/// process that made it.
///
/// The process may die, and its number may be given to another one, at any
/// moment. What is opened here is pinned first and verified afterwards: the
/// kernel says whether the call still waits, and while it does, the process
/// is the one that made it.
class notified_syscall {
public:
  notified_syscall(int listener, const seccomp_notif& n)
      : listener_{listener}, id_{n.id}, pid_{n.pid}, data_{n.data} {}

  int number() const noexcept { return data_.nr; }
  std::uint64_t argument(unsigned n) const noexcept { return data_.args[n]; }
  /// An argument that the kernel takes as an int.
  int integer(unsigned n) const noexcept {
    return static_cast<int>(data_.args[n]);
  }

  bool still_waits() const noexcept;

  /// Nobody else can change the tool's descriptors while this call waits: its
  /// process has one thread. (The filter of a run refuses to share a table of
  /// descriptors in any other way.)
  bool is_alone() const;

  /// Copies exactly `size` bytes out of the tool's memory, once.
  bool read(std::uint64_t address, void* to, std::size_t size) const;
  /// Copies parts of the tool's memory behind each other, `size` bytes in all,
  /// in one system call. At most `most_parts` of them.
  bool read(std::span<const iovec> parts, void* to, std::size_t size) const;
  static constexpr std::size_t most_parts = 1'024; // UIO_MAXIOV
  bool write(std::uint64_t address, const void* from, std::size_t size) const;

  /// A descriptor for the open file behind one of the tool's. Empty with errno
  /// set when there is none.
  unique_fd take(int descriptor);

  // -- the verdict; exactly one of these ------------------------------------
  void succeed(std::int64_t value = 0) noexcept { respond(value, 0, 0); }
  void fail(int error) noexcept { respond(0, error, 0); }
  /// The kernel carries it out as if nobody had looked. Only for calls that
  /// are harmless whatever their memory says by then.
  void pass() noexcept;
  /// Puts `fd` into the tool's table; its number is the call's value.
  bool give(int fd, bool close_on_exec) noexcept;

  /// Puts `fd` into the place of one of the tool's descriptors, which goes on
  /// being closed by an exec, or not. The call still waits for its verdict.
  bool replace(int fd, int descriptor) const;
  /// Who makes it, as our own /proc numbers it.
  std::uint32_t thread() const noexcept { return pid_; }

private:
  void respond(std::int64_t value, int error, std::uint32_t flags) noexcept;
  unique_fd open_memory(int flags) const;

  int listener_;
  std::uint64_t id_;
  std::uint32_t pid_; // of the thread
  seccomp_data data_;
};

} // namespace troupe::network
