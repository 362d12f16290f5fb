// Arguments against schemas, both hostile: `schema NUL arguments`.
#include "runtime/model/schema/bind_arguments.hpp"
#include "runtime/model/schema/pattern.hpp"

#include <cstdlib>

using namespace troupe;

namespace {

void demand(bool holds) {
  if (!holds)
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  std::string_view text{reinterpret_cast<const char*>(data), size};
  auto cut = std::min(text.find('\0'), text.size());
  auto schema = text.substr(0, cut);
  auto args = text.substr(std::min(cut + 1, text.size()));
  if (auto p = pattern::compile(schema))
    (void)p->found_in(args);
  auto bound = bind_arguments(args, schema);
  if (!bound)
    return 0;
  // What was accepted is valid, and accepted again.
  demand(json::check(*bound).has_value());
  demand(bind_arguments(*bound, schema).has_value());
  return 0;
}
