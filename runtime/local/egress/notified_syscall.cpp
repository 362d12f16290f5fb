#include "runtime/local/egress/notified_syscall.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

namespace troupe::network {

namespace {

// Newer than the headers that we build with.
constexpr unsigned pidfd_of_thread = O_EXCL;

std::string proc_path(std::uint32_t pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

/// A number out of /proc/<pid>/status; 0 when the thread is gone.
int status_number(std::uint32_t thread, std::string_view field) {
  unique_fd status{
    ::open(proc_path(thread, "status").c_str(), O_RDONLY | O_CLOEXEC)};
  char text[4096]; // all of it has about 1.5 KiB
  auto n = status ? ::read(status.get(), text, sizeof text) : -1;
  if (n <= 0)
    return 0;
  std::string_view view{text, static_cast<std::size_t>(n)};
  auto line = "\n" + std::string{field} + ":\t";
  auto at = view.find(line);
  int number = 0;
  if (at != view.npos)
    std::from_chars(view.data() + at + line.size(), view.data() + view.size(),
                    number);
  return number;
}

int open_pidfd(int pid, unsigned flags) {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, flags));
}

} // namespace

bool notified_syscall::still_waits() const noexcept {
  auto id = id_;
  return ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

bool notified_syscall::is_alone() const {
  return status_number(pid_, "Threads") == 1 && still_waits();
}

/// Holds on to the memory itself, not to the number of the process.
unique_fd notified_syscall::open_memory(int flags) const {
  unique_fd memory{::open(proc_path(pid_, "mem").c_str(), flags | O_CLOEXEC)};
  if (memory && !still_waits())
    memory.reset();
  return memory;
}

bool notified_syscall::read(std::uint64_t address, void* to,
                            std::size_t size) const {
  const iovec part{reinterpret_cast<void*>(address), size};
  return read({&part, 1}, to, size);
}

bool notified_syscall::read(std::span<const iovec> parts, void* to,
                            std::size_t size) const {
  if (size == 0)
    return true;
  const iovec all{to, size};
  const auto copied = ::process_vm_readv(static_cast<pid_t>(pid_), &all, 1,
                                         parts.data(), parts.size(), 0);
  if (copied >= 0 || errno != ENOSYS)
    // Of another process with this number by now: not looked at.
    return copied == static_cast<ssize_t>(size) && still_waits();
  const auto memory = open_memory(O_RDONLY);
  auto* at = static_cast<char*>(to);
  for (const auto& part : parts) {
    if (::pread(
          memory.get(), at, part.iov_len,
          static_cast<off_t>(reinterpret_cast<std::uint64_t>(part.iov_base)))
        != static_cast<ssize_t>(part.iov_len))
      return false;
    at += part.iov_len;
  }
  return true;
}

bool notified_syscall::write(std::uint64_t address, const void* from,
                             std::size_t size) const {
  const auto memory = open_memory(O_WRONLY);
  return ::pwrite(memory.get(), from, size, static_cast<off_t>(address))
    == static_cast<ssize_t>(size);
}

unique_fd notified_syscall::take(int descriptor) {
  unique_fd process{open_pidfd(static_cast<int>(pid_), pidfd_of_thread)};
  if (!process) // before Linux 6.9 only whole processes have one
    process.reset(open_pidfd(status_number(pid_, "Tgid"), 0));
  if (!process)
    return {};
  unique_fd fd{
    static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), descriptor, 0))};
  if (fd && !still_waits()) {
    fd.reset();
    errno = ESRCH;
  }
  return fd;
}

void notified_syscall::respond(std::int64_t value, int error,
                               std::uint32_t flags) noexcept {
  seccomp_notif_resp response{};
  response.id = id_;
  response.val = value;
  response.error = -error;
  response.flags = flags;
  // ENOENT: the call was interrupted, nobody waits for this any more.
  (void)::ioctl(listener_, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

void notified_syscall::pass() noexcept {
  respond(0, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
}

bool notified_syscall::give(int fd, bool close_on_exec) noexcept {
  seccomp_notif_addfd gift{};
  gift.id = id_;
  gift.flags = SECCOMP_ADDFD_FLAG_SEND;
  gift.srcfd = static_cast<std::uint32_t>(fd);
  gift.newfd_flags = close_on_exec ? O_CLOEXEC : 0;
  return ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_ADDFD, &gift) >= 0;
}

bool notified_syscall::replace(int fd, int descriptor) const {
  const auto place = "fdinfo/" + std::to_string(descriptor);
  unique_fd about{
    ::open(proc_path(pid_, place.c_str()).c_str(), O_RDONLY | O_CLOEXEC)};
  char text[256];
  const auto size = ::read(about.get(), text, sizeof text - 1);
  if (size <= 0)
    return false;
  text[size] = '\0';
  unsigned flags = 0;
  const char* line = std::strstr(text, "flags:");
  if (line == nullptr || std::sscanf(line, "flags: %o", &flags) != 1)
    return false;
  seccomp_notif_addfd other{};
  other.id = id_;
  other.flags = SECCOMP_ADDFD_FLAG_SETFD;
  other.srcfd = static_cast<std::uint32_t>(fd);
  other.newfd = static_cast<std::uint32_t>(descriptor);
  other.newfd_flags = flags & O_CLOEXEC;
  return ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_ADDFD, &other) >= 0;
}

} // namespace troupe::network
