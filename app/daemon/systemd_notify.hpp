#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace troupe {

/// systemd's side of a service, spoken by hand: one datagram per word. Every
/// message goes nowhere without a service manager.
class systemd_notify {
public:
  /// Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and takes them out of
  /// the environment, so that no child speaks for us. Before the first thread.
  static systemd_notify from_environment();

  void ready(std::string_view status) const;
  void reloading() const;
  void stopping() const;
  void alive() const;

  /// A sign of life is wanted this often; zero: never.
  std::chrono::microseconds watchdog() const { return watchdog_; }

private:
  void tell(std::string_view words) const;

  std::string socket_; // "": no service manager
  std::chrono::microseconds watchdog_{0};
};

} // namespace troupe
