// What is written down of a sandbox, and how one goes on that outlived the
// engine that made it.
#include "actors/sandbox/live_sandbox.hpp"

namespace troupe {

namespace {

using state = sandbox_state;

} // namespace

bool outlives_us(const sandbox_place& place) {
  const auto can = place.provider->capabilities();
  return can.outlives_call && can.outlives_engine;
}

stored_sandbox live_sandbox::to_store() const {
  if (!outlives_us(place()))
    return {*record(), {}, {}}; // its values have no use any more
  return {*record(), env, box ? *box : sandbox_handle{}};
}

void live_sandbox::keep() {
  if (kept == record() || !services->options.store)
    return;
  // What nobody has heard of is written when it is made.
  if (state() == state::queued || (state() == state::creating && !kept))
    return;
  kept = record();
  if (state() == state::deleted)
    services->records.erase(record()->organization, record()->id);
  else
    services->records.put(to_store());
}

void live_sandbox::take_over(bool was_over) {
  life->go_on_from(services->now());
  unknown_box = !box && !is_over(state());
  end_told = was_over;
  publish();
}

void live_sandbox::found(const place_event& news) {
  const bool there = !news.process.empty();
  unknown_box = false;
  if (there && !box)
    box = std::make_shared<const sandbox_handle>(sandbox_handle{news.process});
  if (state() == state::deleting)
    return destroy();
  if (there)
    return publish();
  // What a list does not show may be there all the same: asked by its name.
  if (state() == state::running && place().provider->capabilities().renew) {
    renew(renew_order{
      std::max(std::chrono::milliseconds{1'000}, life->left(services->now()))});
    return;
  }
  if (state() == state::running || state() == state::paused)
    begin_removal(sandbox_end::lost);
}

/// Its clocks have changed, and nothing else.
void live_sandbox::tell_due() {
  services->index.update(record()->id, record(), due(), box);
}

} // namespace troupe
