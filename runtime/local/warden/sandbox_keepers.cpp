// The part of the warden that makes sandboxes which live. From then on the
// engine talks to their keepers itself; here they are born, killed and counted.
#include "runtime/local/isolation/idmapped_mount.hpp"
#include "runtime/local/isolation/root_tree.hpp"
#include "runtime/local/warden/sandbox_template.hpp"
#include "runtime/local/warden/warden.hpp"

#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>

namespace troupe::warden {

void warden::keep(const start_order& order, unique_fd control) {
  if (auto why = plans_.refuse_sandbox(order); !why.empty())
    return refuse(order, {isolation::step::namespaces, EPERM}, std::move(why));
  if (std::ranges::any_of(order.shown, &start_order::mount_source::writable))
    return refuse(order, {isolation::step::order, EINVAL},
                  "a sandbox shows no directory of the host to write to");
  if (template_.empty()) {
    auto place = settings_.directory + "/template";
    if (!write_template(place, isolation::standard_tree()))
      return refuse(order, isolation::failed(isolation::step::tree),
                    "the root layer of sandboxes cannot be written to "
                      + place);
    template_ = std::move(place);
  }
  run_resources resources;
  if (!gather(order, resources))
    return refuse(order, isolation::failed(isolation::step::cgroup),
                  "no uid or no control group is left for another sandbox");
  auto plan = plans_.build_for_sandbox(order, template_);
  std::vector<unique_fd> layers;
  if (!gather_layers(order, resources, plan, layers)) {
    const auto why = isolation::failed(isolation::step::open_sources);
    give_back(std::move(resources));
    return refuse(order, why,
                  why.error == ENOENT
                    ? "what it is to be made from is gone"
                    : "a sandbox cannot be made from another one here: that "
                      "takes Linux 6.15");
  }
  run_descriptors fds;
  fds.control = std::move(control);
  begin(order, std::move(resources), plan, fds);
}

bool warden::gather_layers(const start_order& order,
                           const run_resources& resources,
                           isolation::plan& plan,
                           std::vector<unique_fd>& keep) {
  std::vector<int> mounts;
  const auto source = running_.find(order.copies);
  if (order.copies != 0)
    mounts.push_back(source == running_.end() ? -1
                                              : source->second.written().get());
  for (const auto name : order.layers) {
    const auto i = layers_.find(name);
    mounts.push_back(i == layers_.end() ? -1 : i->second.get());
  }
  plan.tree.copies = order.copies != 0;
  unique_fd map;
  if (resources.uid && !mounts.empty())
    map = isolation::make_id_map(isolation::inside_uid, isolation::inside_gid,
                                 *resources.uid, *resources.uid);
  for (const int mount : mounts) {
    if (mount < 0) {
      errno = ENOENT;
      return false;
    }
    if (!resources.uid) {
      plan.tree.layers.push_back({mount, false});
      continue;
    }
    keep.push_back(isolation::mapped_copy(mount, map.get()));
    if (!keep.back())
      return false;
    plan.tree.layers.push_back({keep.back().get(), true});
  }
  return true;
}

void warden::add_layer(std::uint64_t name, unique_fd mount,
                       end_notice& notice) {
  struct statfs use {};
  if (::fstatfs(mount.get(), &use) == 0) {
    notice.layer_bytes
      = (use.f_blocks - use.f_bfree) * static_cast<std::uint64_t>(use.f_bsize);
    notice.layer_inodes = use.f_files - use.f_ffree;
  }
  layers_.insert_or_assign(name, std::move(mount));
}

void warden::cut(const message& m) {
  message done;
  done.what = word::ended;
  done.end.ticket = m.ticket;
  const auto i = running_.find(m.of);
  struct statfs use {};
  int error = 0;
  if (i == running_.end())
    error = ESRCH;
  else if (!i->second.written())
    error = ENOTSUP;
  else if (!i->second.is_alone())
    error = EBUSY;
  else if (::fstatfs(i->second.written().get(), &use) != 0
           || (use.f_blocks - use.f_bfree)
               * static_cast<std::uint64_t>(use.f_bsize)
             > m.most)
    error = ENOSPC;
  if (error != 0) {
    done.end.failure = {isolation::step::order, error};
  } else {
    i->second.kill();
    add_layer(m.ticket, i->second.take_written(), done.end);
  }
  say(std::move(done));
}

bool warden::serve_sandbox(const message& m) {
  if (m.what == word::freeze || m.what == word::thaw)
    freeze(m);
  else if (m.what == word::cut)
    cut(m);
  else if (m.what == word::lend)
    lend(m);
  else if (m.what == word::drop)
    layers_.erase(m.ticket);
  else
    return false;
  return true;
}

void warden::lend(const message& m) {
  message done;
  done.what = word::ended;
  done.end.ticket = m.ticket;
  if (const auto i = running_.find(m.of); i == running_.end())
    done.end.failure = {isolation::step::order, ESRCH};
  else
    done.end.peak_memory_bytes = i->second.lend_memory();
  say(std::move(done));
}

void warden::freeze(const message& m) {
  message done;
  done.what = word::ended;
  done.end.ticket = m.ticket;
  const auto i = running_.find(m.of);
  const int error
    = i == running_.end() ? ESRCH : i->second.freeze(m.what == word::freeze);
  if (error != 0)
    done.end.failure = {isolation::step::cgroup, error};
  say(std::move(done));
}

} // namespace troupe::warden
