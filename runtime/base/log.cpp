#include "runtime/base/log.hpp"

namespace troupe::log {

namespace {

std::atomic<sink> connected{nullptr};
std::atomic<level> least_level{level::off};

} // namespace

std::string_view to_string(level l) {
  switch (l) {
  case level::debug:
    return "debug";
  case level::info:
    return "info";
  case level::warning:
    return "warning";
  case level::error:
    return "error";
  case level::off:
    return "off";
  }
  return "off";
}

void connect(sink where, level least) noexcept {
  connected.store(where, std::memory_order_release);
  least_level.store(where ? least : level::off, std::memory_order_release);
}

bool enabled(level l) noexcept {
  return l >= least_level.load(std::memory_order_relaxed) && l != level::off;
}

void write(level l, std::string_view text, fields more) noexcept {
  if (!enabled(l))
    return;
  if (auto where = connected.load(std::memory_order_acquire))
    where(l, text, more);
}

} // namespace troupe::log
