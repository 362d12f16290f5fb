// The calls whose number alone decides. Those whose arguments matter are in
// seccomp.cpp.
#include "runtime/local/isolation/syscall_table.hpp"

#include <sys/syscall.h>

#include <cerrno>

namespace troupe::isolation {

namespace {

// Calls that the headers of the build host may not know yet.
constexpr long call_cachestat = 451;
constexpr long call_futex_wake = 454;
constexpr long call_futex_wait = 455;
constexpr long call_futex_requeue = 456;
constexpr long call_mseal = 462;

} // namespace

/// What a program does with files, memory, time and its own processes.
void allow_ordinary_calls(seccomp_builder& f) {
  // Files
  f.set(
    allow,
    {SYS_read,         SYS_write,        SYS_close,      SYS_fstat,
     SYS_lseek,        SYS_pread64,      SYS_pwrite64,   SYS_readv,
     SYS_writev,       SYS_preadv,       SYS_pwritev,    SYS_preadv2,
     SYS_pwritev2,     SYS_openat,       SYS_mkdirat,    SYS_mknodat,
     SYS_fchownat,     SYS_newfstatat,   SYS_unlinkat,   SYS_renameat2,
     SYS_linkat,       SYS_symlinkat,    SYS_readlinkat, SYS_fchmodat,
     SYS_faccessat,    SYS_faccessat2,   SYS_utimensat,  SYS_statx,
     SYS_statfs,       SYS_fstatfs,      SYS_truncate,   SYS_ftruncate,
     SYS_fallocate,    SYS_getdents64,   SYS_getcwd,     SYS_chdir,
     SYS_fchdir,       SYS_fchmod,       SYS_fchown,     SYS_umask,
     SYS_flock,        SYS_fsync,        SYS_fdatasync,  SYS_sync_file_range,
     SYS_fadvise64,    SYS_readahead,    SYS_sendfile,   SYS_copy_file_range,
     SYS_splice,       SYS_tee,          SYS_dup,        SYS_dup3,
     SYS_pipe2,        SYS_close_range,  SYS_setxattr,   SYS_lsetxattr,
     SYS_fsetxattr,    SYS_getxattr,     SYS_lgetxattr,  SYS_fgetxattr,
     SYS_listxattr,    SYS_llistxattr,   SYS_flistxattr, SYS_removexattr,
     SYS_lremovexattr, SYS_fremovexattr, call_cachestat, call_fchmodat2});
  // Waiting for something
  f.set(allow,
        {SYS_pselect6, SYS_ppoll, SYS_epoll_ctl, SYS_epoll_pwait,
         SYS_epoll_create1, SYS_epoll_pwait2, SYS_eventfd2, SYS_signalfd4,
         SYS_timerfd_create, SYS_timerfd_settime, SYS_timerfd_gettime});
  // Memory. What it costs is charged to the run's group.
  f.set(allow,
        {SYS_mmap,          SYS_mprotect,     SYS_munmap,     SYS_brk,
         SYS_mremap,        SYS_msync,        SYS_mincore,    SYS_madvise,
         SYS_mlock,         SYS_mlock2,       SYS_munlock,    SYS_mlockall,
         SYS_munlockall,    SYS_memfd_create, SYS_membarrier, SYS_get_mempolicy,
         SYS_pkey_mprotect, SYS_pkey_alloc,   SYS_pkey_free,  SYS_shmget,
         SYS_shmat,         SYS_shmctl,       SYS_shmdt,      call_mseal});
  // Talking to oneself: System V and POSIX queues live in the run's own
  // namespace, pairs and names of AF_UNIX as well.
  f.set(allow,
        {SYS_semget, SYS_semop, SYS_semtimedop, SYS_semctl, SYS_msgget,
         SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_mq_open, SYS_mq_unlink,
         SYS_mq_timedsend, SYS_mq_timedreceive, SYS_mq_notify,
         SYS_mq_getsetattr});
  f.set(allow,
        {SYS_connect, SYS_accept, SYS_accept4, SYS_sendto, SYS_recvfrom,
         SYS_sendmsg, SYS_recvmsg, SYS_sendmmsg, SYS_recvmmsg, SYS_shutdown,
         SYS_bind, SYS_listen, SYS_getsockname, SYS_getpeername,
         SYS_getsockopt});
  // Time
  f.set(allow,
        {SYS_nanosleep, SYS_clock_nanosleep, SYS_clock_gettime,
         SYS_clock_getres, SYS_gettimeofday, SYS_times, SYS_getitimer,
         SYS_setitimer, SYS_timer_create, SYS_timer_settime, SYS_timer_gettime,
         SYS_timer_getoverrun, SYS_timer_delete});
}

/// Processes, threads and signals of the run's own pid namespace.
void allow_process_calls(seccomp_builder& f) {
  f.set(allow,
        {SYS_execve,
         SYS_execveat,
         SYS_exit,
         SYS_exit_group,
         SYS_wait4,
         SYS_waitid,
         SYS_kill,
         SYS_tkill,
         SYS_tgkill,
         SYS_rt_sigaction,
         SYS_rt_sigprocmask,
         SYS_rt_sigreturn,
         SYS_rt_sigpending,
         SYS_rt_sigtimedwait,
         SYS_rt_sigqueueinfo,
         SYS_rt_tgsigqueueinfo,
         SYS_rt_sigsuspend,
         SYS_sigaltstack,
         SYS_restart_syscall,
         SYS_pidfd_open,
         SYS_pidfd_send_signal,
         SYS_futex,
         SYS_futex_waitv,
         SYS_set_robust_list,
         SYS_get_robust_list,
         SYS_set_tid_address,
         SYS_rseq,
         SYS_sched_yield,
         SYS_sched_setparam,
         SYS_sched_getparam,
         SYS_sched_setscheduler,
         SYS_sched_getscheduler,
         SYS_sched_get_priority_max,
         SYS_sched_get_priority_min,
         SYS_sched_rr_get_interval,
         SYS_sched_setaffinity,
         SYS_sched_getaffinity,
         SYS_sched_setattr,
         SYS_sched_getattr,
         SYS_getpriority,
         SYS_setpriority,
         SYS_ioprio_get,
         SYS_ioprio_set,
         SYS_getcpu,
         call_futex_wake,
         call_futex_wait,
         call_futex_requeue});
  // Who am I, and may I be somebody else (the kernel says no by itself)
  f.set(allow,
        {SYS_getpid,
         SYS_getppid,
         SYS_gettid,
         SYS_getuid,
         SYS_geteuid,
         SYS_getgid,
         SYS_getegid,
         SYS_getresuid,
         SYS_getresgid,
         SYS_getgroups,
         SYS_setuid,
         SYS_setgid,
         SYS_setreuid,
         SYS_setregid,
         SYS_setresuid,
         SYS_setresgid,
         SYS_setfsuid,
         SYS_setfsgid,
         SYS_setgroups,
         SYS_capget,
         SYS_capset,
         SYS_setpgid,
         SYS_getpgid,
         SYS_setsid,
         SYS_getsid,
         SYS_getrlimit,
         SYS_setrlimit,
         SYS_getrusage,
         SYS_uname,
         SYS_sysinfo,
         SYS_getrandom,
         SYS_landlock_create_ruleset,
         SYS_landlock_add_rule,
         SYS_landlock_restrict_self});
#if defined(__x86_64__)
  f.set(allow, {SYS_open,         SYS_stat,       SYS_lstat,      SYS_poll,
                SYS_access,       SYS_pipe,       SYS_select,     SYS_dup2,
                SYS_pause,        SYS_alarm,      SYS_fork,       SYS_vfork,
                SYS_getdents,     SYS_rename,     SYS_renameat,   SYS_mkdir,
                SYS_rmdir,        SYS_creat,      SYS_link,       SYS_unlink,
                SYS_symlink,      SYS_readlink,   SYS_chmod,      SYS_chown,
                SYS_lchown,       SYS_utime,      SYS_utimes,     SYS_futimesat,
                SYS_mknod,        SYS_getpgrp,    SYS_arch_prctl, SYS_time,
                SYS_epoll_create, SYS_epoll_wait, SYS_signalfd,   SYS_eventfd});
#else
  f.set(allow, {SYS_renameat});
#endif
}

/// What only an administrator does: refused, not unknown, so that programs
/// report it as what it is. Everything that is named nowhere is ENOSYS, which
/// lets libraries fall back: clone3, openat2, io_uring, the new mount calls,
/// Linux AIO (its slots are the host's), inotify (it would show other runs'
/// use of the shared files).
void refuse_privileged_calls(seccomp_builder& f) {
  f.set(deny_with(EPERM),
        {SYS_ptrace,
         SYS_process_vm_readv,
         SYS_process_vm_writev,
         SYS_kcmp,
         SYS_pidfd_getfd,
         SYS_process_madvise,
         SYS_process_mrelease,
         SYS_mount,
         SYS_umount2,
         SYS_pivot_root,
         SYS_chroot,
         SYS_setns,
         SYS_unshare,
         SYS_bpf,
         SYS_perf_event_open,
         SYS_userfaultfd,
         SYS_add_key,
         SYS_request_key,
         SYS_keyctl,
         SYS_seccomp,
         SYS_fanotify_init,
         SYS_fanotify_mark,
         SYS_open_by_handle_at,
         SYS_name_to_handle_at,
         SYS_quotactl,
         SYS_acct,
         SYS_swapon,
         SYS_swapoff,
         SYS_reboot,
         SYS_sethostname,
         SYS_setdomainname,
         SYS_init_module,
         SYS_finit_module,
         SYS_delete_module,
         SYS_kexec_load,
         SYS_syslog,
         SYS_settimeofday,
         SYS_clock_settime,
         SYS_clock_adjtime,
         SYS_adjtimex,
         SYS_vhangup,
         SYS_sync,
         SYS_syncfs,
         SYS_mbind,
         SYS_set_mempolicy,
         SYS_migrate_pages,
         SYS_move_pages,
         SYS_vmsplice,
         SYS_lookup_dcookie});
#if defined(__x86_64__)
  f.set(deny_with(EPERM),
        {SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_kexec_file_load});
#endif
}

} // namespace troupe::isolation
