#pragma once

#include "net/api/api.hpp"
#include "net/api/idempotent_requests.hpp"
#include "net/server/exchange.hpp"

#include <memory>

namespace troupe::net {

using memory_ptr = std::shared_ptr<idempotency_cache>;

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
void add_sandboxes(router& routes, const api_options& options,
                   const memory_ptr& memory);
void add_sandbox_processes(router& routes, const api_options& options,
                           const memory_ptr& memory);
void add_sandbox_files(router& routes, const api_options& options,
                       const memory_ptr& memory);
void add_keys(router& routes, engine& core, const memory_ptr& memory);
void add_maintenance(router& routes, const api_options& options,
                     const memory_ptr& memory);
void add_organizations(router& routes, engine& core);
void add_insight(router& routes, engine& core);
void add_documents(router& routes);
void add_problem_pages(router& routes);

/// A parameter that no handler reads is a mistake: 422.
std::optional<error> refuse_query(const request& in);

inline route_rules needing(scope s, body_rule body = body_rule::json) {
  route_rules rules;
  rules.needs = static_cast<std::uint8_t>(s);
  rules.body = body;
  rules.inspect = refuse_query;
  return rules;
}

/// For a list, which reads its parameters itself.
inline route_rules listing(scope s) {
  auto rules = needing(s, body_rule::none);
  rules.inspect = nullptr;
  return rules;
}

} // namespace troupe::net
