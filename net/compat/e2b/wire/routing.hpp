#pragma once

#include "net/http/request.hpp"

#include <cstdint>
#include <string>
#include <string_view>

/// Where a request of an E2B client goes. One address serves two planes: calls
/// about sandboxes, and calls that end in one of them. Which it is stands in
/// fields of the request, in its Host or in its token, not in its path.
namespace troupe::net::e2b_facade {

inline constexpr std::string_view base_path = "/compat/e2b";
/// Where a request ends whose headers name no sandbox.
inline constexpr std::string_view malformed_path = "/compat/e2b/malformed";
/// Below it: a sandbox, then the path there.
inline constexpr std::string_view data_path = "/compat/e2b/data/";
inline constexpr std::uint16_t envd_port = 49'983;
inline constexpr std::uint16_t code_port = 49'999;

/// Stands for the id of a sandbox that a request does not name.
inline constexpr std::string_view unnamed = "-";

/// The path of the route for a request: below `base_path`, "/api/..." for calls
/// about sandboxes, "/data/ID/envd/...", "/data/ID/code/..." and
/// "/data/ID/port/N" for calls into one, "/malformed" for what names none.
/// `path` is that of the request, decoded, behind the address of the client.
std::string route_of(const request& in, std::string_view path);

/// [a-z0-9]+, of sane length.
bool is_sandbox_name(std::string_view text);

} // namespace troupe::net::e2b_facade
