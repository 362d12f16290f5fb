// Envelopes of the Connect protocol, and the tokens and paths that come with
// them. In one piece and byte by byte the same ones are found.
#include "net/compat/e2b/entry_info.hpp"
#include "net/compat/e2b/wire/connect_rpc.hpp"
#include "net/compat/e2b/wire/paths.hpp"
#include "net/compat/e2b/wire/tokens.hpp"

#include <cstdlib>

using namespace troupe::net::e2b_facade;

namespace {

constexpr std::size_t largest = 256;

void demand(bool holds) {
  if (!holds)
    std::abort();
}

/// Adds the envelopes in it, each behind a mark. False: it is refused.
bool read_all(envelope_reader& reader, std::string& into) {
  for (;;) {
    auto next = reader.next();
    if (!next)
      return false;
    if (!*next)
      return true;
    demand((*next)->payload.size() <= largest);
    into += ((*next)->end ? '.' : ',') + (*next)->payload;
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  envelope_reader whole{largest};
  whole.feed(bytes);
  std::string at_once, piecewise;
  const bool taken = read_all(whole, at_once);
  envelope_reader parts{largest};
  bool taken_in_parts = true;
  for (const char c : bytes) {
    parts.feed({&c, 1});
    if (taken_in_parts = read_all(parts, piecewise); !taken_in_parts)
      break;
  }
  demand(taken == taken_in_parts && at_once == piecewise);
  (void)sandbox_of_token(bytes);
  (void)parse_entries(bytes);
  if (const auto path = absolute_path(bytes))
    demand(path->starts_with('/'));
  return 0;
}
