#include "net/api/api.hpp"

#include "net/api/runs.hpp"

namespace troupe::net {

void add_api(router& routes, engine& core, api_options options) {
  add_runs(routes, core, options);
}

} // namespace troupe::net
