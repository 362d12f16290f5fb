#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace troupe {

/// systemd's side of a service, spoken by hand: one datagram per word. Every
/// word goes nowhere when nobody listens.
class service_manager {
public:
  /// Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and takes them out of
  /// the environment, so that no child speaks for us. Before the first thread.
  static service_manager from_environment();

  void ready(std::string_view status) const;
  void reloading() const;
  void stopping() const;
  void alive() const;

  /// A sign of life is wanted this often; zero: never.
  std::chrono::microseconds watchdog() const { return watchdog_; }

private:
  void tell(std::string_view words) const;

  std::string socket_; // "": nobody listens
  std::chrono::microseconds watchdog_{0};
};

/// Gives signs of life, twice as often as wanted, for as long as `check` says
/// that there is life.
class heartbeat {
public:
  heartbeat(const service_manager& manager, std::function<bool()> check);
  heartbeat(const heartbeat&) = delete;
  heartbeat& operator=(const heartbeat&) = delete;
  ~heartbeat();

private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;
};

} // namespace troupe
