#pragma once

#include "net/api/shared/api_options.hpp"
#include "net/api/shared/idempotent_requests.hpp"
#include "net/api/shared/route_rules.hpp"

#include <memory>

namespace troupe::net {

// One function per part of the resource; api.cpp calls them all.
void add_sandboxes(router& routes, const api_options& options,
                   const memory_ptr& memory);
void add_snapshots(router& routes, const api_options& options,
                   const memory_ptr& memory);
void add_sandbox_life(router& routes, const api_options& options,
                      const memory_ptr& memory);
void add_sandbox_processes(router& routes, const api_options& options,
                           const memory_ptr& memory);
void add_sandbox_contexts(router& routes, const api_options& options,
                          const memory_ptr& memory);
void add_sandbox_files(router& routes, const api_options& options,
                       const memory_ptr& memory);
void add_sandbox_trees(router& routes, const api_options& options,
                       const memory_ptr& memory);
void add_sandbox_ports(router& routes, const api_options& options,
                       const std::shared_ptr<previews>& seen,
                       const memory_ptr& memory);

} // namespace troupe::net
