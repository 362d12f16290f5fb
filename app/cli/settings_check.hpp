#pragma once

#include "app/cli/settings_options.hpp"

namespace troupe {

/// `troupe config check` and `troupe serve --check-config`: reads everything,
/// tells all mistakes at once, starts nothing; the exit code.
int check_settings(settings_options& from, bool as_json);

} // namespace troupe
