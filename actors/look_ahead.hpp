#pragma once

#include "actors/interfaces.hpp"

#include <caf/scheduled_actor.hpp>

#include <cstddef>

namespace troupe {

/// Runs that waited among a hundred thousand others have left the processor's
/// caches: each would cost its dispatcher some thirty misses, one after the
/// other. This asks for the memory of the next two while the one before them
/// is served.
class look_ahead {
public:
  /// What lies in its mailbox is an actor's own as long as it is running.
  static void into(caf::scheduled_actor& self) {
    auto& queue = self.get_normal_queue();
    const auto waiting = queue.total_task_size(); // each of them counts one
    if (waiting == 0)
      return;
    const auto& next = *queue.peek();
    fetch_run(next); // near already: it was the second one last time
    if (waiting > 1)
      fetch(static_cast<const caf::mailbox_element*>(next.next),
            sizeof(caf::mailbox_element_vals<run_atom, execution>));
  }

private:
  static void fetch_run(const caf::mailbox_element& e) {
    const auto& content = e.content();
    if (!content.match_elements<run_atom, execution>())
      return;
    const auto& what = content.get_as<execution>(1);
    fetch(what.local.get(), sizeof(live_run));
    fetch(what.request.get(), sizeof(run_request));
  }

  static void fetch(const void* from, std::size_t size) {
    constexpr std::size_t line = 64;
    const auto* first = static_cast<const char*>(from);
    for (std::size_t i = 0; i < size; i += line)
      __builtin_prefetch(first + i, 1);
  }
};

} // namespace troupe
