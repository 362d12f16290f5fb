#pragma once

#include "runtime/base/secret.hpp"
#include "runtime/model/variable.hpp"

#include <string_view>

namespace troupe {

/// Variables as they lie in the database of a Letta server, exported as CSV
/// (name and stored value, in this order or under the headings `key` and
/// `value` or `value_enc`) or as a JSON array of objects with these members.
/// `master` is what the server had as LETTA_ENCRYPTION_KEY, or empty. One value
/// that does not open spoils the whole.
result<environment> read_letta_export(std::string_view text,
                                      const secret& master);

} // namespace troupe
