// Somebody else's program with an engine inside: no backend, nothing on disk.
#include <actors/engine_host.hpp>

#include <iostream>

int main() {
  auto host = troupe::open_engine({});
  if (!host) {
    std::cerr << troupe::to_string(host.error()) << "\n";
    return 1;
  }
  std::cout << "catalog version " << (*host)->engine().snapshot()->version
            << "\n";
  (*host)->stop();
}
