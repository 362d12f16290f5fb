#pragma once

#include "actors/protocol/link_options.hpp"
#include "runtime/base/error.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace troupe {

/// A link that we have dialed, with the thread that carries its bytes. The
/// destructor closes it.
class outbound_link {
public:
  /// Blocks, no longer than `patience`. `host` must stand in the certificate
  /// of the node that answers. `watch` sees to it that the thread turns.
  static result<std::unique_ptr<outbound_link>>
  open(const std::string& host, std::uint16_t port, const link_identity& who,
       std::chrono::milliseconds patience, watchdog* watch = nullptr,
       std::chrono::milliseconds silence = link_heartbeats{}.silence);
  virtual ~outbound_link() = default;

  /// For the middleman, which owns it from here on. To be taken once.
  virtual int take_caf_socket() = 0;
  /// Why the other side cut it; "": it did not, or just did.
  virtual std::string why_cut() const = 0;
};

} // namespace troupe
