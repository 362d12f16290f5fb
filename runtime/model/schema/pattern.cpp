#include "runtime/model/schema/pattern.hpp"

#include "runtime/model/schema/ecma_pattern.hpp"

#include <re2/re2.h>

#include <utility>

namespace troupe {

namespace {

// Longer ones are no patterns that a person wrote.
constexpr std::size_t longest_pattern = 1024;
// A check holds a few patterns at once, and a host checks on several threads.
// RE2 gives up a pattern that does not fit, and forgets states of a match.
constexpr std::int64_t most_memory = 1 << 20;
// What RE2 has done when it finds that a pattern does not fit: up to 60 ms.
constexpr std::size_t steps_until_too_large = 1 << 15;

re2::RE2::Options options() {
  re2::RE2::Options o{re2::RE2::Quiet};
  o.set_max_mem(most_memory);
  return o;
}

re2::StringPiece piece(std::string_view text) {
  return {text.data(), text.size()};
}

} // namespace

pattern::pattern(std::unique_ptr<const re2::RE2> machine)
    : machine_{std::move(machine)} {}
pattern::pattern(pattern&&) noexcept = default;
pattern& pattern::operator=(pattern&&) noexcept = default;
pattern::~pattern() = default;

std::optional<pattern> pattern::compile(std::string_view text) {
  std::size_t work = 0;
  return compile(text, work);
}

std::optional<pattern> pattern::compile(std::string_view text,
                                        std::size_t& work) {
  work = 1;
  auto translated
    = text.size() <= longest_pattern ? to_re2(text) : std::nullopt;
  if (!translated)
    return std::nullopt;
  auto machine
    = std::make_unique<const re2::RE2>(piece(*translated), options());
  if (!machine->ok()) {
    if (machine->error_code() == re2::RE2::ErrorPatternTooLarge)
      work = steps_until_too_large;
    return std::nullopt;
  }
  pattern made{std::move(machine)};
  work = made.size();
  return made;
}

bool pattern::found_in(std::string_view text) const {
  return re2::RE2::PartialMatch(piece(text), *machine_);
}

std::size_t pattern::size() const {
  return static_cast<std::size_t>(machine_->ProgramSize());
}

} // namespace troupe
