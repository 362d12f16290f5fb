#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <string_view>

/// What every room may say about its work. Where it goes is decided in app/;
/// nothing is written before that. Write subject, verb, object:
///
///   log::info("warden started zygotes", {{"count", "2"}});
namespace troupe::log {

enum class level : std::uint8_t { debug, info, warning, error, off };

std::string_view to_string(level l);

/// One more fact of a line. Named apart from the text, so that programs find
/// it; an id, a count, a name, never the value of a secret.
struct field {
  std::string_view name;
  std::string_view value;
};
using fields = std::initializer_list<field>;

/// Takes a line. Called on any thread; must neither block nor throw.
using sink = void (*)(level, std::string_view text, fields) noexcept;

/// From now on lines of at least `least` go to `where`; null: nowhere.
void connect(sink where, level least) noexcept;

/// Whether a line of this level would be written: ask before you format.
bool enabled(level l) noexcept;

void write(level l, std::string_view text, fields more = {}) noexcept;

inline void debug(std::string_view text, fields more = {}) noexcept {
  write(level::debug, text, more);
}
inline void info(std::string_view text, fields more = {}) noexcept {
  write(level::info, text, more);
}
inline void warning(std::string_view text, fields more = {}) noexcept {
  write(level::warning, text, more);
}
inline void error(std::string_view text, fields more = {}) noexcept {
  write(level::error, text, more);
}

} // namespace troupe::log
