#pragma once

#include "runtime/engine/sandbox.hpp"

#include <chrono>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// What two runs must have in common to share a sandbox: organization, config,
/// packages, network and size.
std::string sandbox_key(const sandbox_request& wanted,
                        const sandbox_provider& where);

/// One sandbox that we answer for.
struct acquired_sandbox {
  sandbox_handle box;
  std::string tag; // of its lease
  organization_id organization;
  std::string key; // "": made for one run
  /// The config asks for it: it goes back for the next run of its kind.
  bool stays = false;
  std::uint32_t used = 0; // runs that were in it before
  std::chrono::steady_clock::time_point ends_at{};    // its provider ends it
  std::chrono::steady_clock::time_point idle_until{}; // we do
};

/// The sandboxes that wait for a run: kept after one, or made ahead. Keeps the
/// books; who takes one out answers for it.
class sandbox_pool {
public:
  using time_point = std::chrono::steady_clock::time_point;

  void put(acquired_sandbox one) { idle_.push_back(std::move(one)); }

  /// For a run that `may_follow` others: one of those first, so that the
  /// untouched ones are there for who needs them. The most recent one: what is
  /// not needed runs out of time.
  std::optional<acquired_sandbox> take(std::string_view key,
                                       const organization_id& organization,
                                       bool may_follow);
  /// The one that waited longest.
  std::optional<acquired_sandbox> take_oldest();
  /// One whose time is over.
  std::optional<acquired_sandbox> take_expired(time_point now);

  std::size_t size() const { return idle_.size(); }
  std::size_t unused() const;
  /// When the next one's time is over; the end of time when it is empty.
  time_point next_end() const;

private:
  std::list<acquired_sandbox> idle_; // a few dozen; the latest at the back
};

} // namespace troupe
