// What the engine, the keeper of a sandbox and its hands say to each other,
// either way. What is accepted can be said again, and means the same then.
#include "runtime/local/sandbox/inside/hand_protocol.hpp"
#include "runtime/local/sandbox/inside/keeper_protocol.hpp"

#include <cstdlib>

using namespace troupe::inside;

namespace {

void demand(bool holds) {
  if (!holds)
    std::abort();
}

template <class Message>
void check_packet(std::string_view bytes) {
  Message m;
  if (!decode(bytes, m))
    return;
  const auto said = encode(m);
  Message again;
  demand(decode(said, again));
  demand(encode(again) == said);
  demand(!decode(said + '\0', again));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  std::string_view bytes{reinterpret_cast<const char*>(data), size};
  check_packet<keeper_message>(bytes);
  check_packet<hand_message>(bytes);
  return 0;
}
