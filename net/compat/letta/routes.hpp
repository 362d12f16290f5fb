#pragma once

#include "net/compat/letta/letta.hpp"
#include "net/server/exchange.hpp"
#include "runtime/engine/engine.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace troupe::net::letta {

/// Adds one route under both prefixes.
class doors {
public:
  doors(router& routes, const letta_options& options)
      : routes_{routes}, options_{options} {
    if (!options.password.empty())
      password_ = std::make_shared<const secret>(options.password);
  }

  using handle = void (*)(engine& core, const letta_options& options,
                          const exchange_ptr& ex);
  void add(method verb, std::string_view path, engine& core, handle f,
           scope needed);

private:
  router& routes_;
  const letta_options& options_;
  std::shared_ptr<const secret> password_;
};

void add_tools(doors& to, engine& core);
void add_schemas(doors& to, engine& core);
void add_runs(doors& to, engine& core);
void add_configs(doors& to, engine& core);
void add_variables(doors& to, engine& core);
void add_agents(doors& to, engine& core);

/// As `complete_tool`, and as strict about a Python source as Letta: where the
/// schema is read from it, every parameter is described in its docstring.
void describe_tool(engine& core, const caller& who, tool value,
                   handler<tool> done);

/// The body as an object; answers 422 in Letta's way when it is none.
std::optional<json::object> body_of(exchange& ex, bool optional = false);

} // namespace troupe::net::letta
