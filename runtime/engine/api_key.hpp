#pragma once

#include "runtime/base/secret.hpp"
#include "runtime/engine/catalog.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

struct named_scope {
  scope bit;
  std::string_view name;
};

/// From the least to the most.
inline constexpr std::array<named_scope, 4> named_scopes{
  {{scope::run, "run"},
   {scope::config, "config"},
   {scope::admin, "admin"},
   {scope::operate, "operator"}}};

/// The scopes of a key with those that they include.
std::uint8_t with_included(std::uint8_t scopes);

/// A fresh key: the record to store, and the text to show once.
struct new_key {
  api_key record;
  secret text; // "troupe_" and 43 letters, digits, '-' and '_'
};

/// Makes a key from 32 random bytes.
new_key make_api_key(organization_id organization, std::string name,
                     std::uint8_t scopes);

/// Whether a text has the form of a key: says nothing about its worth.
bool is_key_text(std::string_view text);

/// What is stored instead of the key. A plain SHA-256 is enough, since the
/// key is random and long.
std::string hash_key(std::string_view text);

} // namespace troupe
