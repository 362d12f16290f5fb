#include "runtime/model/codec/limit_notes.hpp"

#include "runtime/model/codec/codec.hpp"

namespace troupe {

std::vector<std::string> notes_on_lowered(const limit_overrides& asked,
                                          const limits& settled) {
  if (asked == limit_overrides{})
    return {};
  std::vector<std::string> notes;
  const auto got = to_json(settled);
  for (const auto& [name, wanted] : to_json(asked))
    if (const auto& given = got.at(name); given != wanted)
      notes.push_back(
        "limits." + std::string{name} + " is " + json::to_text(given) + ", not "
        + json::to_text(wanted)
        + ": limited by the engine, the sandbox config or the tool");
  return notes;
}

} // namespace troupe
