#include "runtime/local/sandbox/inside/hand_filter.hpp"

#include "runtime/local/isolation/seccomp.hpp"
#include "runtime/local/isolation/seccomp_builder.hpp"

#include <sys/syscall.h>

#include <cerrno>

namespace troupe::inside {

isolation::outcome confine_hand() noexcept {
  using isolation::allow;
  isolation::seccomp_builder f{isolation::deny_with(EPERM)};
  // Files, by descriptors; openat2 is how a path is resolved.
  f.set(allow, {SYS_openat2,    SYS_openat,     SYS_close,      SYS_close_range,
                SYS_read,       SYS_write,      SYS_pread64,    SYS_pwrite64,
                SYS_lseek,      SYS_fstat,      SYS_newfstatat, SYS_statx,
                SYS_getdents64, SYS_fcntl,      SYS_dup,        SYS_mkdirat,
                SYS_unlinkat,   SYS_renameat,   SYS_renameat2,  SYS_symlinkat,
                SYS_linkat,     SYS_readlinkat, SYS_fchmod,     SYS_fchmodat,
                SYS_ftruncate,  SYS_utimensat});
  // What happens to them.
  f.set(allow,
        {SYS_inotify_init1, SYS_inotify_add_watch, SYS_inotify_rm_watch});
  // The engine.
  f.set(allow, {SYS_ppoll, SYS_recvmsg, SYS_sendmsg});
  // What the language's own library does; memory is charged to the sandbox.
  f.set(allow,
        {SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_brk,
         SYS_futex, SYS_getrandom, SYS_getpid, SYS_gettid, SYS_clock_gettime,
         SYS_sched_yield, SYS_rt_sigaction, SYS_rt_sigprocmask,
         SYS_rt_sigreturn, SYS_sigaltstack, SYS_restart_syscall, SYS_exit,
         SYS_exit_group});
#if defined(__x86_64__)
  f.set(allow, {SYS_poll, SYS_chmod});
#endif
  return isolation::install_filter(f.build(), false, nullptr);
}

} // namespace troupe::inside
