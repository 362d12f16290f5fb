#pragma once

#include "actors/protocol/sandbox_messages.hpp"
#include "actors/sandbox/sandbox_event_log.hpp"
#include "actors/sandbox/sandbox_life.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace troupe {

/// Every sandbox that there is a record of, with its actor: a call finds its
/// way here without passing another actor, and a controller that is started
/// again finds what its predecessor knew. Thread-safe.
class sandbox_index {
public:
  using time_point = sandbox_options::clock::time_point;

  struct entry {
    sandbox_record_ptr record;
    std::size_t place = 0;
    sandbox_actor actor;
    std::uint64_t route = 0; // of the request router
    time_point due = time_point::max();
    std::shared_ptr<const sandbox_handle> box; // null: not made, or gone
    std::shared_ptr<sandbox_event_log> events;
    bool was_there = false; // before this engine was
  };

  void put(const sandbox_id& id, entry e);
  /// It has its actor now, which may have said something already.
  void adopt(const sandbox_id& id, sandbox_actor actor);
  /// What its actor says of it; false: it is not known any more.
  bool update(const sandbox_id& id, sandbox_record_ptr record, time_point due,
              std::shared_ptr<const sandbox_handle> box);
  std::optional<entry> find(const sandbox_id& id) const;
  /// By its actor, which has gone.
  std::optional<sandbox_id> id_of(const caf::actor_addr& actor) const;
  void erase(const sandbox_id& id);
  void clear();
  std::vector<entry> all() const;
  std::vector<sandbox_actor> due(time_point now) const;
  bool has_name(const organization_id& organization,
                const std::string& name) const;
  /// The one of a session that is not over.
  std::optional<entry> of_session(const organization_id& organization,
                                  const std::string& session) const;
  bool empty() const;
  std::uint64_t make_route();

private:
  mutable std::mutex mutex_;
  std::map<sandbox_id, entry> entries_;
  std::uint64_t routes_ = 1ull << 32; // beyond those of dispatchers
};

} // namespace troupe
