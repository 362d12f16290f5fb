#include "actors/context/run_intake.hpp"

#include "actors/state/object_pool.hpp"
#include "runtime/model/codec/codec.hpp"

#include <functional>

namespace troupe {

namespace {

constexpr std::uint32_t small_crowd = 16; // under way, of one organization

error refused(engine_context& context, ec code, const char* why) {
  meters::add(context.meter.refused);
  return {code, why, {}, std::chrono::milliseconds{1'000}};
}

} // namespace

result<accepted_run> accept_run(engine_context& context, caller&& who,
                                run_request&& request) {
  meters::add(context.meter.submitted);
  if (context.draining)
    return refused(context, ec::unavailable,
                   "the engine is stopping; try another node");
  if (context.pending.fetch_add(1) >= context.options.pending) {
    context.pending.fetch_sub(1);
    return refused(context, ec::exhausted, "too many requests are pending");
  }
  if (!request.id)
    request.id = run_id::make();
  request.organization = who.organization;
  request.user = who.user;
  auto run = make_recycled<active_run>(
    std::move(who), make_recycled<const run_request>(std::move(request)),
    context.options.events);
  run->created_at = now();
  run->began = active_run::clock::now();
  if (!context.runs.add(run)) {
    context.pending.fetch_sub(1);
    return error{ec::conflict, "there is a run " + run->id.str() + " already"};
  }
  accepted_run taken{std::move(run)};
  if (context.crowd.enter(taken.run->who.organization) <= small_crowd)
    taken.priority = caf::message_priority::high;
  return taken;
}

void let_go(engine_context& context, const active_run& run) {
  context.pending.fetch_sub(1);
  context.crowd.leave(run.who.organization);
}

result<dispatcher_actor> choose_dispatcher(engine_context& context,
                                           active_run& run) {
  auto routes = context.routes.load();
  if (!routes)
    return error{ec::unavailable, "the engine has stopped"};
  const auto& line = routes->dispatchers;
  // Requests with one key meet at one dispatcher, which knows what it runs.
  const auto& key = run.idempotency_key;
  const auto start = key.empty() ? run.id_hash : std::hash<std::string>{}(key);
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto index = (start + i) % line.size();
    if (line[index]) {
      run.owner = static_cast<std::uint32_t>(index);
      return line[index];
    }
  }
  return error{ec::unavailable,
               "the dispatchers are restarting",
               {},
               std::chrono::milliseconds{1'000}};
}

} // namespace troupe
