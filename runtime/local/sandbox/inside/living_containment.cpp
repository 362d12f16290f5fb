#include "runtime/local/sandbox/inside/living_containment.hpp"

#include "runtime/local/isolation/credentials.hpp"
#include "runtime/local/isolation/mount_calls.hpp"
#include "runtime/local/isolation/namespaces.hpp"
#include "runtime/local/isolation/rlimits.hpp"
#include "runtime/local/isolation/seccomp.hpp"
#include "runtime/local/sandbox/inside/living_tree.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>

namespace troupe::isolation {

namespace {

outcome lead_session() noexcept {
  // Fails only for who leads one already.
  if (::setsid() < 0 && errno != EPERM)
    return failed(step::session);
  ::umask(022);
  return {};
}

/// What is each process's own terminal, or none. A host without it has none
/// for sandboxes, either.
void open_own_terminal(opened_sources& out) noexcept {
  const int fd = copy_mount("/dev/tty", false);
  struct stat about {};
  if (fd >= 0 && ::fstat(fd, &about) == 0 && S_ISCHR(about.st_mode)
      && about.st_rdev == makedev(5, 0))
    out.terminal = fd;
  else
    ::close(fd);
}

} // namespace

// One step per line, stop at the first no.
#define TROUPE_STEP(condition, call) /* NOLINT: no other way to return */      \
  do {                                                                         \
    if (condition)                                                             \
      if (auto no = call; !no.ok())                                            \
        return no;                                                             \
  } while (false)

outcome contain_keeper(const plan& p, int& kept) noexcept {
  opened_sources sources;
  const auto& on = p.layers;
  TROUPE_STEP(true, die_with_parent());
  TROUPE_STEP(on.cgroup_view, own_cgroup_view());
  TROUPE_STEP(on.uts, name_host());
  TROUPE_STEP(true, open_sources(p.tree, sources));
  open_own_terminal(sources);
  TROUPE_STEP(true, become_mapped());
  TROUPE_STEP(on.network, raise_loopback());
  TROUPE_STEP(true, build_living_tree(p.tree, sources, kept));
  TROUPE_STEP(true, lead_session());
  TROUPE_STEP(true, lower_rlimits(p.rlimits));
  TROUPE_STEP(on.capabilities, drop_bounding_set());
  TROUPE_STEP(on.capabilities, lock_securebits());
  TROUPE_STEP(on.capabilities, no_new_privileges());
  TROUPE_STEP(true, settle_identity());
  TROUPE_STEP(on.capabilities, drop_capabilities());
  TROUPE_STEP(true, become_undumpable());
  TROUPE_STEP(true, die_with_parent());
  return {};
}

outcome contain_copier(const plan& p, int& kept) noexcept {
  TROUPE_STEP(true, die_with_parent());
  TROUPE_STEP(true, become_mapped());
  TROUPE_STEP(true, lead_session());
  TROUPE_STEP(true, copy_written_tree(p.tree, kept));
  return {};
}

outcome confine_command(const plan& p) noexcept {
  TROUPE_STEP(true, lead_session());
  TROUPE_STEP(p.layers.seccomp && !p.filter.empty(),
              install_filter(p.filter, false, nullptr));
  return {};
}

outcome confine_command(const plan& p, int& listener) noexcept {
  TROUPE_STEP(true, lead_session());
  TROUPE_STEP(true, install_filter(p.leaving_filter, true, &listener));
  return {};
}

#undef TROUPE_STEP

} // namespace troupe::isolation
