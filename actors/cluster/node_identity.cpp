#include "actors/cluster/node_identity.hpp"

#include <caf/detail/get_root_uuid.hpp>

#include <random>

namespace troupe {

namespace {

std::atomic<bool> used{false};

} // namespace

bool has_random_node_id() {
  return used;
}

void note_node_seed() {
  used = true;
}

} // namespace troupe

// CAF makes the id of a node from MAC addresses, the file systems and the PID.
// Two containers with PID 1 have all of that in common and believe that they
// are one node. This replaces the library's function by symbol interposition;
// hidden visibility would defeat it.
namespace caf::detail {

__attribute__((visibility("default"), used)) std::string get_root_uuid() {
  std::random_device random;
  std::string seed;
  for (int i = 0; i < 4; ++i)
    seed += std::to_string(random());
  troupe::note_node_seed();
  return seed;
}

} // namespace caf::detail
