#pragma once

#include "runtime/base/log.hpp"
#include "runtime/base/secret.hpp"
#include "runtime/settings/settings.hpp"

#include <cstdint>
#include <memory>

namespace troupe {

struct logging_options {
  log::level least = log::level::info;
  bool json = true;
  bool color = false;
  std::uint32_t queue = 8192; // lines
  int fd = 2;

  static logging_options from(const settings& s, int fd = 2);
};

/// Where runtime/base/log.hpp leads while this lives; one per process. A line
/// is masked and rendered by its author, queued without ever waiting, and
/// written by a thread of its own. Lines that do not fit are dropped and
/// counted, and the log itself says how many as soon as it can.
class logging {
public:
  explicit logging(const logging_options& options);
  logging(const logging&) = delete;
  logging& operator=(const logging&) = delete;
  /// Writes what is queued, if the reader still reads.
  ~logging();

  /// Replaces this text by *** in every later line. Texts of less than six
  /// characters are not hidden: they would tear ordinary words apart.
  void hide(const secret& value);
  /// Hides every secret among the settings.
  void hide_all(const settings& s);

  /// From now on only lines of at least this level.
  void least(log::level l) noexcept;

  /// Returns when every line so far was written or dropped. Blocks: for tests
  /// and for the end of a process.
  void flush();

  /// The same of the one that lives, if one does.
  static void flush_current();

  /// Lines that were dropped.
  std::uint64_t dropped() const noexcept;

  /// The same of the one that lives, for /metrics.
  static std::string metrics();

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace troupe
