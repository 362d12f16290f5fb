#pragma once

#include "net/mcp/mcp.hpp"
#include "net/mcp/protocol_sessions.hpp"
#include "runtime/engine/engine.hpp"
#include "runtime/toolkit/toolkit.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::net::mcp {

/// Counts what callers do at the same time, each below a bound.
class caller_counts {
public:
  caller_counts();

  /// Holds one place until it is let go; null: there is none.
  std::shared_ptr<void> enter(const caller& who, std::size_t most_of_caller,
                              std::size_t most);

private:
  struct counts;
  std::shared_ptr<counts> counts_;
};

/// What all requests share.
struct service {
  service(engine& core, mcp_options options);

  engine& core;
  const mcp_options options;
  toolkit::toolkit tools;
  protocol_sessions sessions;
  caller_counts calls;
  caller_counts streams;

  bool is_stopping() const {
    return options.stopping && options.stopping->load();
  }

  /// A place in a list that only the same caller can go on from.
  std::string cursor_for(const caller& who, std::size_t place) const;
  /// Nothing for a cursor that is not ours.
  std::optional<std::size_t> place_of(const caller& who,
                                      std::string_view cursor) const;

private:
  std::string seal(const caller& who, std::string_view place) const;

  const std::string secret_; // of this process
};

} // namespace troupe::net::mcp
