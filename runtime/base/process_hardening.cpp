#include "runtime/base/process_hardening.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <cerrno>
#include <system_error>

namespace troupe {

result<void> keep_memory_private() {
  // The limit alone would not do: a core_pattern that is a pipe ignores it.
  const rlimit none{0, 0};
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0
      && ::setrlimit(RLIMIT_CORE, &none) == 0)
    return {};
  return error{ec::internal,
               "keep this process's memory private: "
                 + std::generic_category().message(errno),
               {},
               {}};
}

} // namespace troupe
