#pragma once

#include "actors/protocol/link_options.hpp"
#include "actors/protocol/messages.hpp"

#include <functional>
#include <memory>
#include <string_view>

namespace troupe {

/// Listens for other nodes and connects authenticated ones to the gateway.
/// A peer with a certificate of the CA may act for every organization:
/// it is for platforms, which check their own users.
class link_listener {
public:
  /// `gate`: the current gateway, for each new link; empty while there is none.
  static result<std::unique_ptr<link_listener>>
  open(caf::actor_system& system, std::function<gateway_actor()> gate,
       const link_options& options,
       std::function<void(std::string_view)> report);
  virtual ~link_listener() = default; // closes every link
  virtual std::uint16_t port() const = 0;
};

} // namespace troupe
