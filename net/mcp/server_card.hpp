#pragma once

#include <string>
#include <string_view>

/// What the server says of itself, the same wherever it is asked.
namespace troupe::net::mcp {

/// How long a client may keep an answer; modern clients are told.
enum class cached { unsaid, not_at_all, for_a_minute, for_an_hour };

/// A result of a modern request, of its members without braces.
std::string modern_result(std::string_view members, cached how);

/// The members of the result of `server/discover`, without braces.
std::string discover_members();

/// The result of `initialize` for what the client asked for; `version` becomes
/// the one that is agreed on.
std::string initialize_result(std::string_view asked, std::string& version);

} // namespace troupe::net::mcp
