#pragma once

#include "net/server/request_parser.hpp"
#include "net/server/server_state.hpp"
#include "runtime/engine/engine.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::net {

/// How else to get what only an operator may have.
inline constexpr std::string_view operators_only
  = "only an operator may: root or the engine's own user, on its machine over "
    "the socket in its data directory (commands find it without --server), or "
    "an API key with the scope 'operator'";

/// On whose behalf a key that is valid now lets runs be made; nothing: it is
/// no such key.
std::optional<caller> caller_of_key(const catalog* current,
                                    std::string_view text);

/// The caller of a request, as one connection remembers it: the same key on
/// the same connection is looked up again only when the catalog has changed.
class request_guard {
public:
  /// `operators`: only they can connect.
  request_guard(const server_state& h, bool loopback, bool operators,
                boost::asio::ip::address local)
      : state_{h}, loopback_{loopback}, operators_{operators}, local_{std::move(
                                                                 local)} {}

  /// Fills `who`, or says why not.
  std::optional<refusal> admit(const request& in, const route_rules& rules,
                               caller& who);
  /// DNS rebinding and cross-site requests end here. `tls`: of the connection.
  std::optional<refusal> check_site(const request& in, bool tls) const;
  /// Whether anybody may see how the engine does.
  bool shows_details() const {
    return loopback_ || state_.options.open_details;
  }

private:
  std::optional<refusal> admit_anonymous(const request& in, scope highest,
                                         caller& who) const;
  std::optional<refusal> admit_key(std::string_view text, caller& who);
  bool is_foreign(std::string_view text) const;
  bool known_host(std::string_view name) const;
  std::string own_address() const;

  const server_state& state_;
  const bool loopback_;  // of the listener
  const bool operators_; // of the listener
  const boost::asio::ip::address local_;
  std::string key_text_;
  catalog_ptr key_catalog_;
  std::shared_ptr<const api_key> key_;
};

} // namespace troupe::net
