#pragma once

#include "actors/caf/request_router.hpp"
#include "actors/protocol/messages.hpp"

#include <chrono>
#include <functional>

namespace troupe {

/// What an answer may take beyond the deadline of its run before it counts as
/// lost on its way.
inline constexpr std::chrono::seconds answer_slack{30};
/// A run that takes longer is asked what it prints.
inline constexpr std::chrono::milliseconds quiet_before_following{50};

/// Looks after requests to a gate elsewhere, about which CAF keeps silent:
/// calls `gone` when the gate is gone, and lets the router fail what was not
/// answered by its time.
caf::behavior link_watch(caf::event_based_actor* self, gateway_actor gate,
                         std::shared_ptr<request_router> router,
                         std::function<void()> gone);

} // namespace troupe
