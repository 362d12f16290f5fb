#pragma once

#include "runtime/base/secret.hpp"
#include "runtime/engine/engine.hpp"
#include "runtime/model/sandbox.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::net {

/// One TCP port of one sandbox.
struct port_name {
  sandbox_id sandbox;
  std::uint16_t port = 0;

  friend auto operator<=>(const port_name&, const port_name&) = default;
};

/// Which ports were opened to the bearers of tokens, or to all. A token is 256
/// random bits, of which only a digest is kept, and ends with this process at
/// the latest. Thread-safe.
class port_tokens {
public:
  using clock = std::chrono::system_clock;
  static constexpr std::size_t most_ports = 32;              // of a sandbox
  static constexpr std::size_t most_tokens = 64;             // of a port
  static constexpr std::size_t most_of_organization = 2'000; // tokens

  struct opened {
    secret token;
    clock::time_point expires_at;
  };
  /// A token for what is `who`'s. `exhausted` beyond the bounds.
  result<opened> open(const caller& who, const port_name& port,
                      std::chrono::seconds life, bool to_all,
                      clock::time_point now);
  /// No token of it opens anything any more.
  void revoke(const organization_id& organization, const port_name& port);

  /// On whose behalf the bearer of `token`, or anybody if that is "", uses the
  /// port. Nothing: not at all.
  std::optional<caller> caller_of(std::string_view token, const port_name& port,
                                  clock::time_point now) const;

  struct listed {
    std::uint16_t port = 0;
    bool to_all = false;
  };
  std::vector<listed> ports_of(const organization_id& organization,
                               const sandbox_id& sandbox,
                               clock::time_point now);

private:
  struct entry {
    caller who;
    clock::time_point public_until{};                // open to all
    std::map<std::string, clock::time_point> tokens; // digests
  };
  void forget_expired(clock::time_point now);

  mutable std::mutex mutex_;
  std::map<port_name, entry> entries_;
};

} // namespace troupe::net
