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

/// The envelopes in it, each behind a mark; "!" at the end: it is refused.
std::string read_all(envelope_reader& reader) {
  std::string out;
  for (;;) {
    auto next = reader.next();
    if (!next)
      return out + "!";
    if (!*next)
      return out;
    demand((*next)->payload.size() <= largest);
    out += ((*next)->end ? '.' : ',') + (*next)->payload;
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  envelope_reader whole{largest};
  whole.feed(bytes);
  const auto at_once = read_all(whole);
  envelope_reader parts{largest};
  std::string piecewise;
  for (const char c : bytes) {
    parts.feed({&c, 1});
    piecewise += read_all(parts);
    if (piecewise.ends_with('!'))
      break;
  }
  demand(at_once == piecewise || at_once.ends_with('!'));
  (void)sandbox_of_token(bytes);
  (void)parse_entries(bytes);
  if (const auto path = absolute_path(bytes))
    demand(path->starts_with('/'));
  return 0;
}
