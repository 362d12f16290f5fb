#include "app/command_line.hpp"
#include "runtime/local/warden/protocol.hpp"

#include <string_view>

int main(int argc, char** argv) {
  // The warden is this binary again: one thread, and nothing of the engine.
  if (argc > 1 && std::string_view{argv[1]} == troupe::warden::command)
    return troupe::warden::warden_main(argc, argv);
  return troupe::run_command_line(argc, argv);
}
