#pragma once

#include "runtime/toolkit/toolkit_call.hpp"

namespace troupe::toolkit {

/// The tools of agents over living sandboxes, as every interface to them sees
/// them. Thread-safe; it outlives its calls.
class toolkit {
public:
  toolkit(sandbox_engine* engine, call_rules rules)
      : engine_{engine}, rules_{rules} {}

  const call_rules& rules() const { return rules_; }
  /// Null: there are no sandboxes here.
  sandbox_engine* engine() const { return engine_; }

  /// Answers once, perhaps before it returns. Arguments that do not fit are an
  /// answer like others. What is returned can be cancelled; null: it is over.
  call_ptr call(caller who, const listed_tool& tool, json::object arguments,
                binding where, call_hooks hooks, toolkit_call::done then);

private:
  sandbox_engine* const engine_;
  const call_rules rules_;
  sessions sessions_;
};

} // namespace troupe::toolkit
