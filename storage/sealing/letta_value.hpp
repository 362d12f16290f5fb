#pragma once

#include "runtime/base/error.hpp"
#include "runtime/base/secret.hpp"

#include <string_view>

namespace troupe {

/// Reads a variable as a Letta server stores it (base64 of salt, IV,
/// AES-256-GCM ciphertext and tag; key by PBKDF2), for taking over its
/// database. Without a master key the text is the value. With one, a text that
/// does not open is the value if it cannot be a sealed one, else `denied`.
result<secret> open_letta_value(std::string_view text, const secret& master);

/// Whether Letta would take the text for a sealed one.
bool looks_sealed_by_letta(std::string_view text);

} // namespace troupe
