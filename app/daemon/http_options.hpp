#pragma once

#include "net/api/api.hpp"
#include "net/compat/letta/letta.hpp"
#include "net/mcp/mcp.hpp"
#include "net/previews/previews.hpp"
#include "net/server/options.hpp"
#include "runtime/settings/settings.hpp"

/// What config.ini says about HTTP, in the words of net/.
namespace troupe {

/// Where operators are served without a key: in the data directory.
std::filesystem::path operator_socket_of(const settings& s);

net::server_options server_options_from(const settings& s);
/// Of the listener for previews of sandboxes' ports.
net::server_options preview_server_options_from(const settings& s);
/// Of the listener that speaks to clients of E2B at its root.
net::server_options e2b_server_options_from(const settings& s);
net::preview_options preview_options_from(const settings& s);
net::api_options api_options_from(const settings& s);
net::mcp::mcp_options mcp_options_from(const settings& s);
net::letta::letta_options letta_options_from(const settings& s);

} // namespace troupe
