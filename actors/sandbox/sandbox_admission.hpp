#pragma once

#include "actors/state/fair_queue.hpp"
#include "actors/state/sandbox_options.hpp"

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

namespace troupe {

/// Which sandbox is made now and which waits: bounds on those that are being
/// made, that live in all, of one organization, and at one place. Counted
/// before anything begins, so that no two take the same room. For one thread.
class sandbox_admission {
public:
  enum class verdict : std::uint8_t {
    now,
    waits,
    queue_full,
    share_full, // its organization's share of the queue
  };

  explicit sandbox_admission(const sandbox_options& options)
      : rules_{options.rules}, places_(options.places.size()) {
    for (std::size_t i = 0; i < places_.size(); ++i)
      places_[i].limit = options.places[i].limit;
  }

  verdict enter(const sandbox_id& id, const organization_id& organization,
                std::size_t place);
  /// It was there before we were: counted, whatever the bounds are.
  void recall(const sandbox_id& id, const organization_id& organization,
              std::size_t place, bool starting);
  /// It has been made: another one may be.
  void made(const sandbox_id& id);
  /// It takes no room any more, or waits no more.
  void left(const sandbox_id& id);
  /// One that waited and may go now. It is counted.
  std::optional<sandbox_id> next();

  std::size_t waiting() const;
  std::size_t waiting(const organization_id& organization) const;
  std::size_t living() const { return living_; }
  std::size_t starting() const { return starting_; }

private:
  struct place_room {
    std::uint32_t limit = 0;
    std::uint32_t taken = 0;
    fair_queue<sandbox_id> queue;
  };
  struct stay {
    organization_id organization;
    std::size_t place = 0;
    std::optional<fair_queue<sandbox_id>::place> waits; // else it has room
    bool starting = false;
  };

  bool has_room(std::size_t place) const;
  bool has_room(const organization_id& organization) const;
  void take(stay& s);

  const sandbox_rules rules_;
  std::vector<place_room> places_;
  std::unordered_map<sandbox_id, stay> stays_;
  std::unordered_map<organization_id, std::uint32_t> by_organization_;
  std::size_t living_ = 0;
  std::size_t starting_ = 0;
  std::size_t turn_ = 0; // of the places
};

} // namespace troupe
