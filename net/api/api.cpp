#include "net/api/api.hpp"

#include "net/api/routes.hpp"
#include "net/api/sandboxes/sandbox_routes.hpp"
#include "net/previews/previews.hpp"

namespace troupe::net {

void add_api(router& routes, engine& core, api_options options) {
  auto memory = std::make_shared<idempotency_cache>(options);
  add_runs(routes, core, options, memory);
  add_run_list(routes, core);
  add_batches(routes, core, options);
  add_tools(routes, core, options, memory);
  add_configs(routes, core, options, memory);
  add_variables(routes, core, memory);
  add_package_sets(routes, options, memory);
  add_sandboxes(routes, options, memory);
  add_snapshots(routes, options, memory);
  add_sandbox_life(routes, options, memory);
  add_sandbox_processes(routes, options, memory);
  add_sandbox_contexts(routes, options, memory);
  add_sandbox_files(routes, options, memory);
  add_sandbox_trees(routes, options, memory);
  if (!options.ports)
    options.ports
      = std::make_shared<previews>(options.sandboxes, core, preview_options{});
  add_sandbox_ports(routes, options, options.ports, memory);
  add_keys(routes, core, memory);
  add_maintenance(routes, options, memory);
  add_organizations(routes, core);
  add_insight(routes, core);
  add_documents(routes);
  add_dashboard(routes);
  add_problem_pages(routes);
}

} // namespace troupe::net
