#include "net/api/api.hpp"

#include "net/api/routes.hpp"

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
  add_sandbox_processes(routes, options, memory);
  add_sandbox_files(routes, options, memory);
  add_keys(routes, core, memory);
  add_maintenance(routes, options, memory);
  add_organizations(routes, core);
  add_insight(routes, core);
  add_documents(routes);
  add_problem_pages(routes);
}

} // namespace troupe::net
