#include "app/cli/command_line.hpp"
#include "runtime/local/warden/protocol.hpp"

#include <sys/resource.h>

#include <string_view>

namespace {

/// A run takes six descriptors. Nothing here is old enough to mind numbers
/// beyond the usual 1,024, and tools get a bound of their own.
void open_as_many_files_as_allowed() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0)
    return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

} // namespace

int main(int argc, char** argv) {
  // The warden is this binary again: one thread, and nothing of the engine.
  if (argc > 1 && std::string_view{argv[1]} == troupe::warden::command)
    return troupe::warden::warden_main(argc, argv);
  open_as_many_files_as_allowed();
  return troupe::run_command_line(argc, argv);
}
