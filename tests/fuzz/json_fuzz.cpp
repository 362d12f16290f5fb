// The JSON reader and writer: what is accepted survives a round trip.
#include "runtime/json/json.hpp"

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
