#pragma once

#include "storage/records/typed_store.hpp"

namespace troupe {

struct tool_kept {
  using record = tool;
  static constexpr column where = column::tools;
  static constexpr std::string_view name = "tool";
  static std::string key(const record& r);
  static std::string encode(const record& r);
  static result<record> decode(std::string_view bytes);
};

extern template class typed_store<tool_kept>;
using tool_store = typed_store<tool_kept>;

} // namespace troupe
