// The JSON reader and writer: what is accepted survives a round trip.
#include "runtime/json/big_integers.hpp"

#include <cstdlib>

using namespace troupe;

namespace {

void demand(bool holds) {
  if (!holds)
    std::abort();
}

/// With integers of any size it takes more, and writes what it took.
void check_large(std::string_view text, bool takes_plain) {
  auto v = json::parse_large(text, json::anywhere);
  demand(v || !takes_plain);
  demand(json::check_large_object(text).has_value() == (v && v->is_object()));
  if (!v)
    return;
  auto once = json::exact_text(*v);
  demand(json::check(once).has_value());
  auto again = json::parse_large(once, json::anywhere);
  demand(again && json::exact_text(*again) == once);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  std::string_view text{reinterpret_cast<const char*>(data), size};
  auto fixed = json::repair_utf8(text);
  demand(json::is_utf8(fixed));
  demand(json::is_utf8(text) == (fixed == text));
  std::string quoted;
  json::append_string(quoted, text);
  demand(json::check(quoted).has_value());

  auto v = json::parse(text);
  bool valid = json::check(text).has_value();
  demand(valid || !v); // numbers may be too big for `parse` alone
  demand(json::check_object(text).has_value() == (v && v->is_object()));
  check_large(text, v.has_value());
  if (!v)
    return 0;
  demand(json::is_utf8(text));
  auto once = json::to_text(*v);
  auto again = json::parse(once);
  demand(again.has_value());
  demand(json::to_text(*again) == once);
  auto canonical = json::parse(json::to_canonical(*v));
  demand(canonical.has_value());
  demand(json::to_canonical(*canonical) == json::to_canonical(*v));
  return 0;
}
