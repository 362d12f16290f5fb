// The part of the warden that makes sandboxes which live. From then on the
// engine talks to their keepers itself; here they are born, killed and counted.
#include "runtime/local/isolation/root_tree.hpp"
#include "runtime/local/warden/sandbox_template.hpp"
#include "runtime/local/warden/warden.hpp"

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
  const auto plan = plans_.build_for_sandbox(order, template_);
  run_descriptors fds;
  fds.control = std::move(control);
  begin(order, std::move(resources), plan, fds);
}

} // namespace troupe::warden
