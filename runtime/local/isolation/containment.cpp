#include "runtime/local/isolation/containment.hpp"

#include "runtime/local/isolation/credentials.hpp"
#include "runtime/local/isolation/landlock.hpp"
#include "runtime/local/isolation/mounts.hpp"
#include "runtime/local/isolation/namespaces.hpp"
#include "runtime/local/isolation/program.hpp"
#include "runtime/local/isolation/rlimits.hpp"
#include "runtime/local/isolation/seccomp.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace troupe::isolation {

namespace {

outcome own_session() noexcept {
  // Fails only for who leads one already.
  if (::setsid() < 0 && errno != EPERM)
    return failed(step::session);
  ::umask(022);
  return {};
}

outcome apply_landlock(const plan& p) noexcept {
  const char* writable[max_sources];
  int count = 0;
  for (const auto& shown : p.tree.shown)
    if (shown.writable && count < max_sources)
      writable[count++] = shown.inside.c_str();
  return restrict_files(writable, count);
}

outcome enter(const char* directory) noexcept {
  if (::chdir(directory) != 0)
    return failed(step::tree);
  return {};
}

} // namespace

// One step per line, stop at the first no.
#define TROUPE_STEP(condition, call) /* NOLINT: no other way to return */      \
  do {                                                                         \
    if (condition)                                                             \
      if (auto no = call; !no.ok())                                            \
        return no;                                                             \
  } while (false)

namespace {

/// Until the tree stands.
outcome enter_root(const plan& p, bool scratch) noexcept {
  opened_sources sources;
  const auto& on = p.layers;
  TROUPE_STEP(true, die_with_parent());
  TROUPE_STEP(on.cgroup_view, own_cgroup_view());
  TROUPE_STEP(on.uts, name_host());
  TROUPE_STEP(on.mounts, open_sources(p.tree, sources));
  TROUPE_STEP(on.user, become_mapped());
  TROUPE_STEP(on.mounts, build_tree(p.tree, sources, scratch));
  TROUPE_STEP(on.mounts && on.user && !p.program.empty(),
              change_program(p.program.c_str()));
  return {};
}

/// What the children of a slot inherit, whatever else they give up.
outcome drop_rights(const plan& p) noexcept {
  const auto& on = p.layers;
  TROUPE_STEP(true, own_session());
  TROUPE_STEP(true, lower_rlimits(p.rlimits));
  TROUPE_STEP(on.capabilities && on.user, drop_bounding_set());
  TROUPE_STEP(on.capabilities && on.user, lock_securebits());
  TROUPE_STEP(on.capabilities, no_new_privileges());
  TROUPE_STEP(on.user, settle_identity());
  return {};
}

} // namespace

outcome contain(const plan& p, int* listener) noexcept {
  const auto& on = p.layers;
  TROUPE_STEP(true, enter_root(p, true));
  TROUPE_STEP(true, enter(p.working_dir.c_str()));
  TROUPE_STEP(true, drop_rights(p));
  TROUPE_STEP(on.capabilities && on.user, drop_capabilities());
  TROUPE_STEP(on.capabilities, become_undumpable());
  TROUPE_STEP(true, die_with_parent());
  TROUPE_STEP(on.landlock && on.mounts, apply_landlock(p));
  TROUPE_STEP(on.seccomp && !p.filter.empty(),
              install_filter(p.filter, p.notify, listener));
  return {};
}

outcome contain_slot(const plan& p, int* listener) noexcept {
  TROUPE_STEP(true, enter_root(p, false));
  TROUPE_STEP(true, enter("/"));
  TROUPE_STEP(true, drop_rights(p));
  TROUPE_STEP(true, become_undumpable());
  TROUPE_STEP(true, die_with_parent());
  TROUPE_STEP(true, install_filter(p.filter, p.notify, listener));
  return {};
}

outcome contain_run(const plan& p) noexcept {
  TROUPE_STEP(true, die_with_parent());
  TROUPE_STEP(true, fresh_scratch(p.tree));
  TROUPE_STEP(true, fresh_proc());
  TROUPE_STEP(true, enter(p.working_dir.c_str()));
  TROUPE_STEP(true, own_session());
  TROUPE_STEP(true, drop_capabilities());
  TROUPE_STEP(true, become_undumpable());
  TROUPE_STEP(true, die_with_parent());
  TROUPE_STEP(p.layers.landlock, apply_landlock(p));
  TROUPE_STEP(true, install_filter(p.run_filter, false, nullptr));
  return {};
}

#undef TROUPE_STEP

} // namespace troupe::isolation
