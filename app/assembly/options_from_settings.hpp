#pragma once

#include "actors/cluster/peer_backend.hpp"
#include "actors/context/engine_options.hpp"
#include "net/telemetry/exporter.hpp"
#include "runtime/local/options.hpp"
#include "runtime/local/sandbox/local_sandboxes.hpp"
#include "runtime/local/warm/options.hpp"
#include "runtime/packages/options.hpp"
#include "runtime/settings/settings.hpp"
#include "storage/maintenance/store.hpp"

/// What config.ini says, in the words of each room. A room's own defaults stay
/// where no setting speaks about them.
namespace troupe {

store_options store_options_from(const settings& s);
local_options local_options_from(const settings& s);
zygote::zygote_options zygote_options_from(const settings& s);
isolation_level isolation_from(const settings& s);
/// The widest network that a run may have.
network_policy network_from(const settings& s);
environment_options environment_options_from(const settings& s);
/// Without backends and stores, which are opened, not said.
engine_options engine_options_from(const settings& s);
local_sandbox_options local_sandbox_options_from(const settings& s);
/// The nodes of cluster.seeds.
peer_options peer_options_from(const settings& s);
/// Only where there is an endpoint.
net::exporter_options exporter_options_from(const settings& s);
/// What a sandbox config means that does not say.
config_defaults config_defaults_from(const settings& s);

/// "~/x" in the home directory of this user.
std::filesystem::path expand_home(const std::string& path);

} // namespace troupe
