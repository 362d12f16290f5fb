#pragma once

#include "storage/records/typed_store.hpp"

namespace troupe {

struct config_kept {
  using record = sandbox_config;
  static constexpr column where = column::configs;
  static constexpr std::string_view name = "sandbox config";
  static std::string key(const record& r);
  static std::string encode(const record& r);
  static result<record> decode(std::string_view bytes);
};

extern template class typed_store<config_kept>;
using config_store = typed_store<config_kept>;

} // namespace troupe
