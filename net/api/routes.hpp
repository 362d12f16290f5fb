#pragma once

#include "net/api/api.hpp"
#include "net/api/shared/idempotent_requests.hpp"
#include "net/api/shared/route_rules.hpp"

#include <memory>

namespace troupe::net {

// One function per resource; api.cpp calls them all.
void add_runs(router& routes, engine& core, const api_options& options,
              const memory_ptr& memory);
void add_run_list(router& routes, engine& core);
void add_batches(router& routes, engine& core, const api_options& options);
void add_tools(router& routes, engine& core, const api_options& options,
               const memory_ptr& memory);
void add_configs(router& routes, engine& core, const api_options& options,
                 const memory_ptr& memory);
void add_variables(router& routes, engine& core, const memory_ptr& memory);
void add_package_sets(router& routes, const api_options& options,
                      const memory_ptr& memory);
void add_keys(router& routes, engine& core, const memory_ptr& memory);
void add_maintenance(router& routes, const api_options& options,
                     const memory_ptr& memory);
void add_organizations(router& routes, engine& core);
void add_insight(router& routes, engine& core);
void add_documents(router& routes);
void add_dashboard(router& routes);
void add_problem_pages(router& routes);

} // namespace troupe::net
