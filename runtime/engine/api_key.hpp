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

/// How a key looks.
enum class key_format : std::uint8_t {
  troupe, // "troupe_" and 43 letters, digits, '-' and '_': 32 random bytes
  e2b,    // "e2b_" and 40 digits from 0 to f: 20, for clients that insist
};

/// A fresh key: the record to store, and the text to show once.
struct new_key {
  api_key record;
  secret text;
};

new_key make_api_key(organization_id organization, std::string name,
                     std::uint8_t scopes,
                     key_format format = key_format::troupe);

/// Whether a text has the form of a key: says nothing about its worth.
bool is_key_text(std::string_view text);
/// The same of the form that keys of E2B have, ours or theirs.
bool is_e2b_key_text(std::string_view text);

/// What is stored instead of the key. A plain SHA-256 is enough, since the
/// key is random and long.
std::string hash_key(std::string_view text);

} // namespace troupe
