#pragma once

#include "storage/records/typed_store.hpp"

namespace troupe {

/// Only hashes: a key itself is never kept.
struct key_kept {
  using record = api_key;
  static constexpr column where = column::keys;
  static constexpr std::string_view name = "API key";
  static std::string key(const record& r);
  static std::string encode(const record& r);
  static result<record> decode(std::string_view bytes);
};

extern template class typed_store<key_kept>;
using key_store = typed_store<key_kept>;

} // namespace troupe
