#include "runtime/local/egress/notified_syscalls.hpp"

#include <linux/seccomp.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cstddef>

namespace troupe::network {

namespace {

sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset));
}
sock_filter give(unsigned verdict) {
  return BPF_STMT(BPF_RET | BPF_K, verdict);
}
sock_filter equal(unsigned value, unsigned char yes, unsigned char no) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no);
}

// The lower half of an argument lies first: little endian.
constexpr std::size_t argument(unsigned n) {
  return offsetof(seccomp_data, args) + 8 * n;
}
constexpr auto call_number = offsetof(seccomp_data, nr);

} // namespace

std::vector<sock_filter> notify_rules() {
  std::vector<sock_filter> rules{load(call_number)};
  for (auto call :
       {SYS_connect, SYS_bind, SYS_listen, SYS_sendmsg, SYS_sendmmsg}) {
    rules.push_back(equal(static_cast<unsigned>(call), 0, 1));
    rules.push_back(give(SECCOMP_RET_USER_NOTIF));
  }
  // Either half of the address pointer.
  rules.insert(rules.end(),
               {equal(SYS_sendto, 0, 6), load(argument(4)), equal(0, 0, 2),
                load(argument(4) + 4), equal(0, 1, 0),
                give(SECCOMP_RET_USER_NOTIF), load(call_number)});
  rules.insert(rules.end(),
               {equal(SYS_socket, 0, 5), load(argument(0)),
                equal(AF_INET, 1, 0), equal(AF_INET6, 0, 1),
                give(SECCOMP_RET_USER_NOTIF), load(call_number)});
  rules.insert(rules.end(),
               {equal(SYS_setsockopt, 0, 6), load(argument(1)),
                equal(SOL_SOCKET, 0, 3), load(argument(2)),
                equal(SO_LINGER, 0, 1), give(SECCOMP_RET_USER_NOTIF),
                load(call_number)});
  return rules;
}

std::vector<sock_filter> notify_filter() {
  auto filter = notify_rules();
  filter.push_back(give(SECCOMP_RET_ALLOW));
  return filter;
}

} // namespace troupe::network
