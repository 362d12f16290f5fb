#pragma once

#include <stdlib.h>
#include <string.h>

namespace troupe::zygote {

/// What an interpreter was started with, every run can read in /proc. A path of
/// the host, once used, is wiped there.
inline void wipe_start_variable(const char* name) {
  if (char* value = getenv(name))
    memset(value, 0, strlen(value));
}

} // namespace troupe::zygote
