#pragma once

#include "runtime/base/error.hpp"
#include "runtime/local/isolation/probe/probe.hpp"

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>

namespace troupe {

/// What the first warden found out about this host. Any thread may ask.
class host_probe {
public:
  void succeed(isolation::probe_report report);
  void fail(std::string why);

  bool is_done() const;
  void wait() const;
  isolation::probe_report report() const;
  bool has(std::string_view layer) const;
  /// Whether runs that insist on so much can be carried out here.
  result<void> allows(isolation_level level) const;

private:
  mutable std::mutex mutex_;
  mutable std::condition_variable finished_;
  bool is_done_ = false;
  isolation::probe_report report_;
  std::string trouble_ = "the warden is starting";
};

} // namespace troupe
