// What the engine and its warden say to each other, either way, and the plan
// that a warm interpreter reads. What is accepted can be said again, and means
// the same then.
#include "runtime/local/isolation/containment.hpp"
#include "runtime/local/warden/protocol.hpp"

#include <cstdlib>

using namespace troupe;

namespace {

void demand(bool holds) {
  if (!holds)
    std::abort();
}

void check_message(std::string_view bytes) {
  warden::message m;
  if (!warden::decode(bytes, m))
    return;
  const auto said = warden::encode(m);
  warden::message again;
  demand(warden::decode(said, again));
  demand(warden::encode(again) == said);
  demand(!warden::decode(said + '\0', again));
  demand(!to_string(m.end.failure.at).empty());
}

void check_plan(std::string_view bytes) {
  isolation::plan p;
  if (!isolation::decode(bytes.data(), bytes.size(), p))
    return;
  const auto said = isolation::encode(p);
  isolation::plan again;
  demand(isolation::decode(said.data(), said.size(), again));
  demand(isolation::encode(again) == said);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  std::string_view bytes{reinterpret_cast<const char*>(data), size};
  check_message(bytes);
  check_plan(bytes);
  (void)warden::is_warden(bytes);
  return 0;
}
