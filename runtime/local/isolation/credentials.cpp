#include "runtime/local/isolation/credentials.hpp"

#include "runtime/local/isolation/plan.hpp"

#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace troupe::isolation {

namespace {

// Raw calls: glibc's broadcast the change to every thread and take locks that
// a forked copy of another program cannot trust.
bool set_ids() noexcept {
  return ::syscall(SYS_setresgid, inside_gid, inside_gid, inside_gid) == 0
    && ::syscall(SYS_setresuid, inside_uid, inside_uid, inside_uid) == 0;
}

bool ids_are_settled() noexcept {
  uid_t r = 0, e = 0, s = 0;
  gid_t rg = 0, eg = 0, sg = 0;
  return ::getresuid(&r, &e, &s) == 0 && ::getresgid(&rg, &eg, &sg) == 0
    && r == inside_uid && e == inside_uid && s == inside_uid && rg == inside_gid
    && eg == inside_gid && sg == inside_gid;
}

constexpr unsigned long locked_bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED
  | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED
  | SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE
  | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

} // namespace

outcome become_mapped() noexcept {
  // Without privilege over the host's groups the kernel forbids setgroups in
  // the namespace; the groups are unmapped there and grant nothing new.
  if (::syscall(SYS_setgroups, 0, nullptr) != 0 && errno != EPERM)
    return failed(step::identity_map);
  // No id inside is 0, so no capability is lost on the way.
  if (!set_ids())
    return failed(step::identity_map);
  return {};
}

outcome drop_bounding_set() noexcept {
  for (int capability = 0; capability < 64; ++capability) {
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0)
      continue;
    if (errno == EINVAL && capability > CAP_BLOCK_SUSPEND)
      break; // past the kernel's last one
    return failed(step::bounding_set);
  }
  return {};
}

outcome lock_securebits() noexcept {
  if (::prctl(PR_SET_SECUREBITS, locked_bits, 0, 0, 0) != 0)
    return failed(step::securebits);
  return {};
}

outcome no_new_privileges() noexcept {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return failed(step::no_new_privs);
  return {};
}

outcome settle_identity() noexcept {
  if (!set_ids())
    return failed(step::identity);
  if (!ids_are_settled())
    return {step::identity, EPERM};
  return {};
}

outcome drop_capabilities() noexcept {
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
    return failed(step::capabilities);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (::syscall(SYS_capset, &header, none) != 0)
    return failed(step::capabilities);
  __user_cap_data_struct now[2] = {};
  if (::syscall(SYS_capget, &header, now) != 0)
    return failed(step::capabilities);
  for (const auto& half : now)
    if ((half.effective | half.permitted | half.inheritable) != 0)
      return {step::capabilities, EPERM};
  return {};
}

outcome become_undumpable() noexcept {
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
    return failed(step::undumpable);
  return {};
}

} // namespace troupe::isolation
