// Descriptors are the delicate part. libuv's fork closes the numbers of its old
// loop and opens new ones, so the old numbers must neither be free nor mean
// anything else at that moment. The slot keeps them, but as /dev/null: what
// Node has open is out of reach from there on, and a child whose loop is new
// closes what still is /dev/null. But for the bells of other threads' loops: V8
// rings one when it instantiates WebAssembly, `fetch` does that, and libuv
// aborts a process whose bell is gone. Nobody hears it, and nobody needs to; a
// child has a bell of its own there, since a lock on what the slot has would
// outlive its run.
#include "runtime/local/warm/node/node_interpreter.hpp"

#include "runtime/local/launch/sandbox_abi.hpp"
#include "runtime/local/warm/process/prefault.hpp"
#include "runtime/local/warm/process/run_process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>

namespace troupe::zygote {

namespace {

void close_between(int first, int last) {
  if (first > last)
    return;
  if (syscall(SYS_close_range, static_cast<unsigned>(first),
              static_cast<unsigned>(last), 0U)
      == 0)
    return;
  for (int fd = first; fd <= std::min(last, 1024); ++fd) // before Linux 5.9
    close(fd);
}

bool is_bell(int fd) {
  char path[64], target[64] = "";
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return readlink(path, target, sizeof target - 1) > 0
    && strcmp(target, "anon_inode:[eventfd]") == 0;
}

bool is_null_device(int fd) {
  struct stat about {};
  return fstat(fd, &about) == 0 && S_ISCHR(about.st_mode)
    && about.st_rdev == makedev(1, 3);
}

} // namespace

node_interpreter::node_interpreter(uv_loop_s* loop) : loop_{loop} {
  sigprocmask(SIG_SETMASK, nullptr, &mask_);
  auto* list = opendir("/proc/self/fd");
  if (!list)
    return;
  while (auto* entry = readdir(list)) {
    const int fd = atoi(entry->d_name);
    if (fd < abi::fd_count || fd == dirfd(list) || count_ == most_descriptors)
      continue;
    own_[count_++] = fd;
    if (is_bell(fd))
      bells_[bell_count_++] = fd;
  }
  closedir(list);
  std::sort(own_, own_ + count_);
}

void node_interpreter::enter_slot(int null) {
  for (int i = 0; i < count_; ++i)
    dup3(null, own_[i], O_CLOEXEC);
  // No gaps: whatever a child opens in place of these gets their numbers.
  const int last = count_ > 0 ? own_[count_ - 1] : 0;
  for (int fd = abi::fd_count; fd < last && count_ < most_descriptors; ++fd)
    if (fcntl(fd, F_GETFD) < 0 && dup3(null, fd, O_CLOEXEC) == fd)
      own_[count_++] = fd;
  std::sort(own_, own_ + count_);
}

void node_interpreter::close_all_but(int keep) {
  int next = abi::fd_count;
  const auto skip = [&](int fd) {
    close_between(next, fd - 1);
    next = fd + 1;
  };
  for (int i = 0; i < count_; ++i) {
    if (keep >= next && keep < own_[i])
      skip(keep);
    skip(own_[i]);
  }
  if (keep >= next)
    skip(keep);
  close_between(next, 1 << 20);
}

void node_interpreter::renew_placeholders() {
  const int bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (bell < 0)
    _exit(could_not_start);
  for (int i = 0; i < count_; ++i) {
    if (!is_null_device(own_[i]))
      continue;
    auto* end = bells_ + bell_count_;
    if (std::find(bells_, end, own_[i]) == end)
      close(own_[i]);
    else if (dup3(bell, own_[i], O_CLOEXEC) != own_[i])
      _exit(could_not_start);
  }
  close(bell);
}

void node_interpreter::live(packet order, descriptors& with, int preforked) {
  sigprocmask(SIG_SETMASK, &mask_, nullptr);
  begin_run_process();
  if (order.what == word::prefork) {
    preforked_ = preforked;
  } else {
    preforked_ = -1;
    take_run(order, with);
  }
  close_all_but(preforked_);
  if (uv_loop_fork(loop_) != 0)
    _exit(could_not_start);
  renew_placeholders();
  uv_update_time(loop_); // or a timer would count from the zygote's last look
}

void node_interpreter::take_run(const packet& order, const descriptors& with) {
  place_descriptors(with);
  apply_order(order);
}

bool node_interpreter::wait_for_run() {
  make_pages_ready(warmed_ ? waiting::warmed : waiting::forked);
  packet order;
  descriptors with;
  if (receive(preforked_, order, with, true) != received::packet)
    _exit(0);
  if (order.what != word::run) {
    warmed_ = true;
    return false;
  }
  take_run(order, with);
  with.close_all();
  close(preforked_);
  uv_update_time(loop_);
  return true;
}

} // namespace troupe::zygote
