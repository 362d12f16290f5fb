#pragma once

#include <caf/policy/unprofiled.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>

namespace troupe {

/// How CAF's threads share their work: one queue for all, as its own policy
/// `sharing` has it. That one wakes a thread while it holds the queue's lock;
/// the woken one often takes the processor from who woke it, finds the lock
/// taken, and gives the processor back. Here the lock is free by then.
class quiet_sharing : public caf::policy::unprofiled {
public:
  struct coordinator_data {
    explicit coordinator_data(caf::scheduler::abstract_coordinator*) {}

    std::deque<caf::resumable*> queue;
    std::mutex lock;
    std::condition_variable cv;
  };

  struct worker_data {
    explicit worker_data(caf::scheduler::abstract_coordinator*) {}
  };

  // -- what CAF's coordinator and workers call
  // ---------------------------------

  template <class Coordinator>
  void central_enqueue(Coordinator* self, caf::resumable* job) {
    auto& shared = d(self);
    {
      std::lock_guard guard{shared.lock};
      shared.queue.push_back(job);
    }
    shared.cv.notify_one();
  }
  template <class Worker>
  void external_enqueue(Worker* self, caf::resumable* job) {
    central_enqueue(self->parent(), job);
  }
  template <class Worker>
  void internal_enqueue(Worker* self, caf::resumable* job) {
    central_enqueue(self->parent(), job);
  }
  /// It has had its share, and goes to the end of the queue.
  template <class Worker>
  void resume_job_later(Worker* self, caf::resumable* job) {
    central_enqueue(self->parent(), job);
  }

  template <class Worker>
  caf::resumable* dequeue(Worker* self) {
    auto& shared = d(self->parent());
    std::unique_lock guard{shared.lock};
    shared.cv.wait(guard, [&] { return !shared.queue.empty(); });
    auto* job = shared.queue.front();
    shared.queue.pop_front();
    return job;
  }

  /// Threads have no queues of their own.
  template <class Worker, class Function>
  void foreach_resumable(Worker*, Function) {}

  /// At the end: what is left in the queue.
  template <class Coordinator, class Function>
  void foreach_central_resumable(Coordinator* self, Function f) {
    auto& shared = d(self);
    std::lock_guard guard{shared.lock};
    while (!shared.queue.empty()) {
      auto* job = shared.queue.front();
      shared.queue.pop_front();
      f(job);
    }
  }
};

} // namespace troupe
