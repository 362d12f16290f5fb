#pragma once

#include "storage/records/typed_store.hpp"

namespace troupe {

/// Ordered by agent, then by name.
struct agent_variable_kept {
  using record = sealed_agent_variable;
  static constexpr column where = column::agent_variables;
  static constexpr std::string_view name = "agent variable";
  static std::string key(const record& r);
  static std::string encode(const record& r);
  static result<record> decode(std::string_view bytes);
};

extern template class typed_store<agent_variable_kept>;
using agent_variable_store = typed_store<agent_variable_kept>;

} // namespace troupe
