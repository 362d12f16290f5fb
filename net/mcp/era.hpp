#pragma once

#include "net/http/request.hpp"
#include "net/mcp/rpc.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::net::mcp {

/// The protocol has two forms. `modern` requests stand alone and say in `_meta`
/// what they are; `legacy` ones begin with `initialize` and belong to a session
/// of the protocol.
enum class era { modern, legacy };

inline constexpr std::string_view modern_version = "2026-07-28";
inline constexpr std::array<std::string_view, 3> legacy_versions
  = {"2025-11-25", "2025-06-18", "2025-03-26"};

namespace meta_names {
inline constexpr std::string_view version
  = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view capabilities
  = "io.modelcontextprotocol/clientCapabilities";
} // namespace meta_names

bool is_legacy_version(std::string_view text);
/// ["2026-07-28", ...] as JSON.
std::string_view versions_json();

/// The body first; the head counts where the body says nothing.
era era_of(const request& in, const rpc_message& message);

/// Whether an Accept field takes both forms of an answer.
bool takes_answers(const request& in);
bool takes_events(const request& in);

/// Whether a modern request says in `_meta` what it has to, and a version that
/// is spoken.
std::optional<rpc_error> check_meta(const rpc_message& message);
std::optional<rpc_error> check_version(const rpc_message& message);

/// What is wrong with a modern request before its method is looked at, and with
/// its head after; in the order in which clients expect to hear of it.
std::optional<rpc_error> check_modern(const request& in,
                                      const rpc_message& message);

/// A field value as it is meant: `=?base64?...?=` is decoded, strictly; nothing
/// when that cannot be.
std::optional<std::string> decoded_field(std::string_view value);

} // namespace troupe::net::mcp
