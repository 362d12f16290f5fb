#pragma once

#include "runtime/async/io_thread.hpp"

#include <caf/policy/unprofiled.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

namespace troupe {

/// How CAF's threads share their work: one queue for all, as its own policy
/// `sharing` has it. That one wakes a thread while it holds the queue's lock;
/// the woken one often takes the processor from its waker, finds the lock
/// taken, and gives the processor back. Here the lock is free by then.
///
/// Beside that, the first thread takes the place of the local backend's, if
/// there is one (`system_config::sockets`), and waits for both: between a
/// local run's socket and its actor no thread has to be woken.
class scheduler_policy : public caf::policy::unprofiled {
public:
  struct coordinator_data {
    explicit coordinator_data(caf::scheduler::abstract_coordinator* of);

    std::mutex lock;
    std::deque<caf::resumable*> queue;
    std::size_t waiting = 0; // threads, at the condition variable
    std::condition_variable cv;
    io_thread* const sockets; // null: none
    bool at_sockets = false;  // the first thread waits there
  };

  struct worker_data {
    explicit worker_data(caf::scheduler::abstract_coordinator*) {}
    bool has_sockets = false;
    bool has_asked = false; // for them
    std::uint32_t turns = 0;
  };

  // -- what CAF's coordinator and workers call
  // ---------------------------------

  template <class Coordinator>
  void central_enqueue(Coordinator* self, caf::resumable* job) {
    put(d(self), job);
  }
  template <class Worker>
  void external_enqueue(Worker* self, caf::resumable* job) {
    put(d(self->parent()), job);
  }
  template <class Worker>
  void internal_enqueue(Worker* self, caf::resumable* job) {
    put(d(self->parent()), job);
  }
  /// It has had its share, and goes to the end of the queue.
  template <class Worker>
  void resume_job_later(Worker* self, caf::resumable* job) {
    put(d(self->parent()), job);
  }

  template <class Worker>
  caf::resumable* dequeue(Worker* self) {
    auto& shared = d(self->parent());
    auto& own = d(self);
    if (!std::exchange(own.has_asked, true) && self->id() == 0)
      own.has_sockets = take_sockets(shared);
    return own.has_sockets ? take_between_events(shared, own) : take(shared);
  }
  template <class Worker>
  void before_shutdown(Worker* self) {
    if (std::exchange(d(self).has_sockets, false))
      leave_sockets(d(self->parent()));
  }

  /// Threads have no queues of their own.
  template <class Worker, class Function>
  void foreach_resumable(Worker*, Function) {}

  /// At the end: what is left in the queue.
  template <class Coordinator, class Function>
  void foreach_central_resumable(Coordinator* self, Function f) {
    auto& shared = d(self);
    std::lock_guard guard{shared.lock};
    while (!shared.queue.empty())
      f(pop(shared));
  }

private:
  static caf::resumable* pop(coordinator_data& shared);
  static void put(coordinator_data& shared, caf::resumable* job);
  static caf::resumable* take(coordinator_data& shared);
  static bool take_sockets(coordinator_data& shared);
  static void leave_sockets(coordinator_data& shared);
  static caf::resumable* take_between_events(coordinator_data& shared,
                                             worker_data& own);
};

} // namespace troupe
