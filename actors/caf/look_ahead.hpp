#pragma once

#include "actors/protocol/messages.hpp"

#include <caf/scheduled_actor.hpp>

#include <cstddef>

namespace troupe {

/// Runs that waited among a hundred thousand others have left the processor's
/// caches: each would cost its dispatcher some thirty misses, one after the
/// other. This asks for the memory of the next ones while the one before them
/// is served: the request of the next run, the run after it, and the mailbox
/// element after that, each reached through what was prefetched one turn
/// earlier.
class look_ahead {
public:
  /// What lies in its mailbox is an actor's own as long as it is running.
  static void into(caf::scheduled_actor& self) {
    auto& queue = self.get_normal_queue();
    auto waiting = queue.total_task_size(); // each of them counts one
    if (waiting == 0)
      return;
    const auto* e = queue.peek();
    if (const auto* run = run_of(*e))
      fetch((*run)->request().get(), sizeof(run_request));
    if (waiting == 1)
      return;
    e = after(*e);
    if (const auto* run = run_of(*e))
      fetch(run->get(), sizeof(active_run));
    if (waiting > 2)
      fetch(after(*e), sizeof(letter));
  }

private:
  using letter = caf::mailbox_element_vals<run_atom, active_run_ptr>;

  /// The end of the queue is no element: count first.
  static const caf::mailbox_element* after(const caf::mailbox_element& e) {
    return static_cast<const caf::mailbox_element*>(e.next);
  }

  static const active_run_ptr* run_of(const caf::mailbox_element& e) {
    const auto& content = e.content();
    return content.match_elements<run_atom, active_run_ptr>()
      ? &content.get_as<active_run_ptr>(1)
      : nullptr;
  }

  static void fetch(const void* from, std::size_t size) {
    constexpr std::size_t line = 64;
    const auto* first = static_cast<const char*>(from);
    for (std::size_t i = 0; i < size; i += line)
      __builtin_prefetch(first + i, 1);
  }
};

} // namespace troupe
