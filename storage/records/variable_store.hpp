#pragma once

#include "storage/records/typed_store.hpp"

namespace troupe {

/// Ordered by config, so that a config goes with its variables.
struct variable_kept {
  using record = sealed_variable;
  static constexpr column where = column::variables;
  static constexpr std::string_view name = "variable";
  static std::string key(const record& r);
  static std::string encode(const record& r);
  static result<record> decode(std::string_view bytes);
};

extern template class typed_store<variable_kept>;
using variable_store = typed_store<variable_kept>;

} // namespace troupe
