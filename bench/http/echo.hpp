#pragma once

#include <cstdint>
#include <memory>

namespace troupe::bench {

/// The bare server: Beast reads a request and sends its body back, one
/// thread. Nothing is checked, routed, counted or timed.
class echo_server {
public:
  echo_server();
  ~echo_server();
  std::uint16_t port() const;

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace troupe::bench
