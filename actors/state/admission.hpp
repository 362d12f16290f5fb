#pragma once

#include "actors/state/fair_queue.hpp"
#include "runtime/base/error.hpp"
#include "runtime/model/backend_name.hpp"
#include "runtime/model/run.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace troupe {

/// How much of it at the same time. Beyond it: wait, and beyond that: no.
struct admission_limits {
  std::uint32_t running = 1'024; // in all
  std::uint32_t running_per_organization = 256;
  /// By backend; a provider's own quota usually binds earlier.
  std::map<backend_name, std::uint32_t> running_per_backend;
  std::uint32_t running_per_other_backend = 256;
  std::uint32_t waiting = 4'096; // in all
  std::uint32_t waiting_per_organization = 2'048;
  /// Turns per round in the queue; one for organizations not listed.
  std::map<organization_id, std::uint32_t> weights;
};

/// Decides which runs start, wait or are refused. Shared by the
/// dispatchers; every call takes well under a microsecond.
class admission {
public:
  using waiter = std::shared_ptr<void>; // handed back when it may start
  struct ticket;
  struct entry {
    ticket* of = nullptr; // lives as long as the waiter
    waiter who;
  };
  using queue = fair_queue<entry>;

  /// One run's ticket. Kept in the run; only the admission writes it.
  struct ticket {
    enum class state : std::uint8_t { outside, waiting, running };
    state now = state::outside;
    backend_name backend = backend_kind::local;
    organization_id organization;
    queue::place place;
  };

  explicit admission(admission_limits limits);

  enum class verdict : std::uint8_t { run, wait };

  /// Refuses with `exhausted` and a time to come back after.
  result<verdict> enter(ticket& s, const organization_id& organization,
                        backend_name backend, std::int32_t priority,
                        waiter who);

  /// A place for something that will not wait, beside the runs of its
  /// organization and counted as one of them; false: there is none now.
  bool enter_at_once(ticket& s, const organization_id& organization,
                     backend_name backend);

  /// Gives up whatever the ticket holds; the waiters that may start now.
  std::vector<waiter> leave(ticket& s);

  /// Takes a place at another backend; false: it is full, and the old place is
  /// given up all the same.
  bool move(ticket& s, backend_name to, std::vector<waiter>& may_start);

  struct counts {
    std::uint32_t running = 0;
    std::uint32_t waiting = 0;
    std::array<std::uint32_t, backend_name::most> running_by_backend{};
    std::array<std::uint32_t, backend_name::most> waiting_by_backend{};
  };
  counts now() const;
  std::uint32_t limit_of(backend_name kind) const;
  /// Organizations whose runs wait, the longest queues first.
  std::vector<std::pair<organization_id, std::uint32_t>>
  longest_queues(std::size_t most) const;

private:
  bool room_for(const organization_id& organization,
                backend_name backend) const;
  void occupy(ticket& s, backend_name backend);
  void vacate(ticket& s);
  void wake(std::vector<waiter>& may_start);
  std::chrono::milliseconds wait_estimate() const;

  mutable std::mutex mutex_;
  const admission_limits limits_;
  std::array<std::uint32_t, backend_name::most> bounds_{};
  counts counts_;
  std::unordered_map<organization_id, std::uint32_t> running_of_;
  std::unordered_map<organization_id, std::uint32_t> waiting_of_;
  std::array<queue, backend_name::most> queues_;
  std::size_t next_backend_ = 0;
  /// Smoothed time between two leaves: tells how long the queue takes.
  std::chrono::steady_clock::time_point last_leave_{};
  double leave_interval_ms_ = 0;
};

} // namespace troupe
