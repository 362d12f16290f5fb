// Texts that name packages or hosts: what is accepted is harmless and stable.
#include "runtime/model/host_pattern.hpp"
#include "runtime/model/package_requirement.hpp"

#include <cstdlib>

using namespace troupe;

namespace {

void demand(bool holds) {
  if (!holds)
    std::abort();
}

/// No option, no second argument by a line break, nothing a shell expands.
bool is_harmless(std::string_view text) {
  return !text.empty() && text[0] != '-'
    && text.find_first_of("\n\r\t;&`$\\'\"(){}#%") == text.npos
    && text.find('\0') == text.npos;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  std::string_view text{reinterpret_cast<const char*>(data), size};
  if (auto r = parse_marked_pip(text))
    demand(*parse_marked_pip(to_string(*r)) == *r);
  if (auto r = parse_pip(text)) {
    auto spelled = to_string(*r);
    demand(is_harmless(spelled));
    demand(*parse_pip(spelled) == *r);
  }
  if (auto r = parse_npm(text)) {
    auto spelled = to_string(*r);
    demand(is_harmless(spelled));
    demand(*parse_npm(spelled) == *r);
  }
  if (auto p = parse_host_pattern(text))
    demand(*parse_host_pattern(to_string(*p)) == *p);
  return 0;
}
